//! Pipeline segments and blocks cover the data.

use super::*;

#[test]
fn pipeline_segments_cover_the_data_in_whole_elements() {
    let ways = [
        PipelineSegments::Whole,
        PipelineSegments::Fixed(1),
        PipelineSegments::Fixed(100),
        PipelineSegments::FIXED,
        PipelineSegments::DYNAMIC,
        PipelineSegments::Dynamic(0),
    ];
    for way in ways {
        for element_size in [1, 8, 24] {
            for elements in [0, 1, 2, 3, 17, 100, 4096, 4097] {
                let len = elements * element_size;
                let mut end = 0;
                for part in way.of(len, element_size) {
                    assert_eq!(part.start, end, "{way:?} of {len}");
                    assert!(part.start % element_size == 0 && (len == 0 || !part.is_empty()));
                    end = part.end;
                }
                assert_eq!(end, len, "{way:?}");
            }
        }
    }
    assert_eq!(PipelineSegments::DYNAMIC.bytes(64 * 1024, 1), 8 * 1024);
    assert_eq!(PipelineSegments::DYNAMIC.bytes(15 * 1024, 1), 15 * 1024);
    assert_eq!(PipelineSegments::FIXED.of(1 << 20, 8).count(), 32);
}

#[test]
fn blocks_differ_by_one_element_at_most() {
    for (elements, parts) in [(0, 3), (2, 3), (3, 3), (10, 3), (1000, 7)] {
        let blocks: Vec<_> = (0..parts)
            .map(|i| block(elements * 8, 8, parts, i))
            .collect();
        assert_eq!((blocks[0].start, blocks[parts - 1].end), (0, elements * 8));
        assert!(blocks.windows(2).all(|b| b[0].end == b[1].start));
        let lens = blocks.iter().map(|b| b.len() / 8);
        assert!(lens.clone().max().unwrap() - lens.min().unwrap() <= 1);
    }
}
