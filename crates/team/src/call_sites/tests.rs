//! Call sites are read as they were written.

use super::*;
use corecast_wire::Segment;

#[test]
fn sites_are_read_as_they_are_shown() {
    let segment = Segment::new(Segment::bytes_for::<Words>(SITES), None).unwrap();
    let site_table = CallSiteTable::new(segment.lines(SITES).unwrap());
    let site_writer = CallSiteWriter::new(site_table.clone());
    let sites = [Location::caller(), Location::caller()];
    for site in sites {
        site_writer.note(site);
        let word = core::ptr::from_ref(site).addr() as u64;
        assert_eq!(site_table.read(word).unwrap(), site.to_string());
        assert_eq!(site_table.read(word + 8 * SITES as u64), None);
    }
    assert_eq!(site_table.read(0), None);
}
