//! The kernel's files about this host's parts, which the first team of a program would read one by one.

use std::path::PathBuf;
use std::sync::Once;

use corecast_machine::KernelTexts;

use super::save::keep;
use super::{Store, StoreError};

impl Store {
    /// By host, because a home folder is often shared by several.
    fn kernel_texts_path(&self) -> Option<PathBuf> {
        let host = rustix::system::uname();
        let host = host.nodename().to_string_lossy().replace('/', "-");
        Some(self.folder.as_ref()?.join(format!("kernel-{host}.json")))
    }

    /// Keeps what this process has read of the kernel's files, for programs that start later.
    pub(super) fn save_kernel_texts(&self) -> Result<(), StoreError> {
        let Some(texts) = KernelTexts::of_this_boot() else {
            return Ok(());
        };
        let text = serde_json::to_string(&texts).expect("plain data with text keys");
        keep(self.kernel_texts_path(), &text).map(drop)
    }

    /// Takes what was kept in place of the kernel's files, where this program has not read them yet. What cannot be used is
    /// passed over, as the files can be read.
    pub(crate) fn recall_kernel_texts(&self) {
        static ONCE: Once = Once::new();
        ONCE.call_once(|| {
            let text = self
                .kernel_texts_path()
                .and_then(|path| std::fs::read_to_string(path).ok());
            if let Some(texts) =
                text.and_then(|text| serde_json::from_str::<KernelTexts>(&text).ok())
            {
                texts.recall();
            }
        });
    }
}
