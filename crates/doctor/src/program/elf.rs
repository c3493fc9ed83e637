//! Reads an ELF file: the libraries that it needs, the folders to search for them, and the runtimes that it defines.
//!
//! The dynamic table is read through the program headers, as the loader reads it, and symbols through the sections,
//! which only files that were not stripped have in full. Of large files only these parts are read.

use std::fs::File;
use std::path::Path;

use object::elf::{self, FileHeader32, FileHeader64};
use object::endian::Endianness;
use object::read::elf::{Dyn, FileHeader, ProgramHeader, SectionHeader, Sym};
use object::read::{FileKind, ReadCache, ReadRef, StringTable};

use super::runtime::{Runtime, Symbols};

/// The architecture for which a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Architecture {
    pub(super) machine: elf::Machine,
    /// Whether pointers have 64 bits.
    pub(super) wide: bool,
    pub(super) big_endian: bool,
}

impl Architecture {
    /// Rust's name of the architecture; `None` where this list does not have it.
    pub(super) fn name(self) -> Option<&'static str> {
        Some(match (self.machine, self.wide, self.big_endian) {
            (elf::EM_X86_64, true, false) => "x86_64",
            (elf::EM_X86_64, false, false) => "x32",
            (elf::EM_386, false, false) => "x86",
            (elf::EM_AARCH64, true, false) => "aarch64",
            (elf::EM_ARM, false, false) => "arm",
            (elf::EM_RISCV, true, false) => "riscv64",
            (elf::EM_PPC64, true, false) => "powerpc64le",
            (elf::EM_PPC64, true, true) => "powerpc64",
            (elf::EM_S390, true, true) => "s390x",
            (elf::EM_LOONGARCH, true, false) => "loongarch64",
            _ => return None,
        })
    }

    /// The name for messages.
    pub(super) fn describe(self) -> String {
        match self.name() {
            Some(name) => name.to_owned(),
            None => format!("ELF machine {}", self.machine.0),
        }
    }

    /// Whether a machine of the architecture that Rust calls `host` runs it.
    pub(super) fn runs_on(self, host: &str) -> bool {
        let host = match host {
            "powerpc64" if cfg!(target_endian = "little") => "powerpc64le",
            other => other,
        };
        match self.name() {
            Some("x86" | "x32") => matches!(host, "x86" | "x86_64"),
            Some("arm") => matches!(host, "arm" | "aarch64"),
            Some(name) => name == host,
            None => false,
        }
    }

    /// Library folders that distributions use for it.
    pub(super) fn folders(self) -> &'static [&'static str] {
        match self.name() {
            Some("x86_64") => &["lib/x86_64-linux-gnu", "lib64"],
            Some("x32") => &["lib/x86_64-linux-gnux32", "libx32"],
            Some("x86") => &["lib/i386-linux-gnu", "lib32"],
            Some("aarch64") => &["lib/aarch64-linux-gnu", "lib64"],
            Some("arm") => &["lib/arm-linux-gnueabihf", "lib/arm-linux-gnueabi"],
            Some("riscv64") => &["lib/riscv64-linux-gnu", "lib64/lp64d", "lib64"],
            Some("powerpc64le") => &["lib/powerpc64le-linux-gnu", "lib64"],
            Some("s390x") => &["lib/s390x-linux-gnu", "lib64"],
            Some("loongarch64") => &["lib/loongarch64-linux-gnu", "lib64"],
            _ => &["lib64"],
        }
    }
}

/// The contents of an ELF file, as far as they are needed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Elf {
    pub(super) architecture: Architecture,
    /// Whether it is a program or a library, not an object file or a core dump.
    pub(super) loadable: bool,
    /// The loader that it asks for.
    pub(super) interpreter: Option<String>,
    pub(super) needed: Vec<String>,
    pub(super) soname: Option<String>,
    /// Folders that are searched before `LD_LIBRARY_PATH`, for its libraries and for those that these need.
    pub(super) rpath: Vec<String>,
    /// Folders that are searched after `LD_LIBRARY_PATH`, for its own libraries only. If there are any, `rpath` is
    /// empty, as the loader ignores it.
    pub(super) runpath: Vec<String>,
    /// Whether it has a table of all its symbols.
    pub(super) symbols: bool,
    /// Whether it calls `dlopen`.
    pub(super) dlopen: bool,
    /// Runtimes that it defines.
    pub(super) within: Vec<Runtime>,
}

/// Why a file could not be read.
#[derive(Debug)]
pub(super) enum Unreadable {
    /// It is no ELF file.
    NoElf,
    /// The system refuses it or it is malformed, with the message.
    Because(String),
}

/// Reads the file at `path`, which must be a plain file, since others could block.
pub(super) fn read(path: &Path) -> Result<Elf, Unreadable> {
    let because = |error: &dyn ToString| Unreadable::Because(error.to_string());
    let file = File::open(path).map_err(|e| because(&e))?;
    let data = ReadCache::new(file);
    match FileKind::parse(&data) {
        Ok(FileKind::Elf32) => parse::<FileHeader32<Endianness>, _>(&data),
        Ok(FileKind::Elf64) => parse::<FileHeader64<Endianness>, _>(&data),
        _ => return Err(Unreadable::NoElf),
    }
    .map_err(|e| because(&e))
}

/// Reads a library that the loader looks for; `None` for a file that the loader would skip.
pub(super) fn read_plain(path: &Path) -> Option<Elf> {
    let plain = path.metadata().is_ok_and(|m| m.is_file());
    if plain { read(path).ok() } else { None }
}

fn parse<'data, H, R>(data: R) -> object::read::Result<Elf>
where
    H: FileHeader<Endian = Endianness>,
    R: ReadRef<'data>,
{
    let header = H::parse(data)?;
    let endian = header.endian()?;
    let mut elf = Elf {
        architecture: Architecture {
            machine: header.e_machine(endian),
            wide: header.is_class_64(),
            big_endian: header.is_big_endian(),
        },
        loadable: matches!(header.e_type(endian), elf::ET_EXEC | elf::ET_DYN),
        interpreter: None,
        needed: Vec::new(),
        soname: None,
        rpath: Vec::new(),
        runpath: Vec::new(),
        symbols: false,
        dlopen: false,
        within: Vec::new(),
    };
    let segments = header.program_headers(endian, data)?;
    for segment in segments {
        if let Some(path) = segment.interpreter(endian, data)? {
            elf.interpreter = Some(text(path));
        }
        if let Some(table) = segment.dynamic(endian, data)? {
            dynamic::<H, R>(&mut elf, endian, segments, data, table);
        }
    }
    // Symbols are optional: a file whose sections were cut off still runs.
    let _ = symbols::<H, R>(&mut elf, header, endian, data);
    Ok(elf)
}

fn dynamic<'data, H, R>(
    elf: &mut Elf,
    endian: Endianness,
    segments: &[H::ProgramHeader],
    data: R,
    table: &[H::Dyn],
) where
    H: FileHeader<Endian = Endianness>,
    R: ReadRef<'data>,
{
    let entries = || {
        let all = table.iter().map(|d| (d.tag(endian), d.val(endian)));
        all.take_while(|(tag, _)| *tag != elf::DT_NULL)
    };
    let value = |wanted| entries().find(|(tag, _)| *tag == wanted).map(|e| e.1);
    let (Some(address), Some(size)) = (value(elf::DT_STRTAB), value(elf::DT_STRSZ)) else {
        return;
    };
    let strings = segments
        .iter()
        .filter(|s| s.p_type(endian) == elf::PT_LOAD)
        .find_map(|s| s.data_range(endian, data, address, size).ok().flatten());
    let Some(bytes) = strings else { return };
    let strings = StringTable::new(bytes, 0, bytes.len() as u64);
    let string = |at: u64| {
        let found = strings.get(u32::try_from(at).ok()?).ok()?;
        Some(text(found))
    };
    for (tag, at) in entries() {
        let Some(word) = string(at) else { continue };
        match tag {
            elf::DT_NEEDED => elf.needed.push(word),
            elf::DT_SONAME => elf.soname = Some(word),
            elf::DT_RPATH => elf.rpath = folders(&word),
            elf::DT_RUNPATH => elf.runpath = folders(&word),
            _ => {}
        }
    }
    if value(elf::DT_RUNPATH).is_some() {
        elf.rpath.clear();
    }
}

fn symbols<'data, H, R>(
    elf: &mut Elf,
    header: &H,
    endian: Endianness,
    data: R,
) -> object::read::Result<()>
where
    H: FileHeader<Endian = Endianness>,
    R: ReadRef<'data>,
{
    let sections = header.sections(endian, data)?;
    let mut found = Symbols::default();
    for section in sections.iter() {
        let kind = section.sh_type(endian);
        if !matches!(kind, elf::SHT_SYMTAB | elf::SHT_DYNSYM) {
            continue;
        }
        let Ok(symbols) = section.data_as_array::<H::Sym, _>(endian, data) else {
            continue;
        };
        // The table is read as a whole, since each name by itself would be a system call.
        let link = object::SectionIndex(section.sh_link(endian) as usize);
        let bytes = sections.section(link)?.data(endian, data)?;
        let strings = StringTable::new(bytes, 0, bytes.len() as u64);
        elf.symbols |= kind == elf::SHT_SYMTAB && !symbols.is_empty();
        for symbol in symbols {
            let Ok(name) = strings.get(symbol.st_name(endian)) else {
                continue;
            };
            if symbol.is_undefined(endian) {
                elf.dlopen |= matches!(name, b"dlopen" | b"dlmopen");
            } else {
                found.see(name);
            }
        }
    }
    elf.within = found.runtimes();
    Ok(())
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn folders(list: &str) -> Vec<String> {
    list.split(':').map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn machines_run_their_own_programs_and_those_of_their_narrow_kin() {
        let of = |machine, wide| Architecture {
            machine,
            wide,
            big_endian: false,
        };
        assert!(of(elf::EM_X86_64, true).runs_on("x86_64"));
        assert!(of(elf::EM_386, false).runs_on("x86_64"));
        assert!(!of(elf::EM_AARCH64, true).runs_on("x86_64"));
        assert!(!of(elf::EM_X86_64, true).runs_on("aarch64"));
        let unknown = of(elf::Machine(9999), true);
        assert!(!unknown.runs_on("x86_64"));
        assert_eq!(unknown.describe(), "ELF machine 9999");
    }

    #[test]
    fn what_is_no_elf_is_said_to_be_none() {
        let folder = tempfile::tempdir().unwrap();
        for (name, bytes) in [
            ("empty", &b""[..]),
            ("words", b"hello"),
            ("zip", b"PK\x03\x04"),
        ] {
            let path = folder.path().join(name);
            std::fs::write(&path, bytes).unwrap();
            assert!(matches!(read(&path), Err(Unreadable::NoElf)), "{name}");
        }
        let cut = folder.path().join("cut");
        std::fs::write(&cut, b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x02\0").unwrap();
        assert!(matches!(read(&cut), Err(Unreadable::Because(_))));
    }

    /// Reading this test's own file, cut off and with corrupt headers, never panics.
    #[test]
    fn broken_files_are_refused_or_read_in_part() {
        let whole = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("broken");
        let head = &whole[..whole.len().min(1 << 14)];
        for at in (16..1024).step_by(3) {
            let mut bytes = head.to_vec();
            bytes[at] ^= 0xff;
            std::fs::write(&path, bytes).unwrap();
            let _ = read(&path);
        }
    }
}
