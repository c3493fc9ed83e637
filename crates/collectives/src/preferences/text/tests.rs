//! Preferences are read as they were written, and errors quote the text.

use super::*;

#[test]
fn what_is_written_is_read() {
    let mut rng = fastrand::Rng::with_seed(4);
    for _ in 0..500 {
        let mut asked = Algorithms::default();
        for operation in Algorithms::OPERATIONS {
            let names = Algorithms::sized_names(operation).unwrap();
            let mut name = || rng.choice(&names).copied().filter(|_| rng.bool());
            let mut ranges = vec![(usize::MAX, name())];
            if operation != "barrier" {
                let limits = [0, 7, 1 << 10, 3 << 20, 5 << 30];
                ranges = limits.map(|limit| (limit, name())).to_vec();
            }
            asked.ask(operation, &ranges).unwrap();
        }
        let text = asked.to_string();
        assert_eq!(text.parse(), Ok(asked), "{text}");
        assert_eq!(text.is_empty(), asked.is_empty());
    }
}

#[test]
fn order_and_blanks_do_not_count() {
    let one: Algorithms = "scan=chain@8..9, doubling@..8;gather=push".parse().unwrap();
    let other = " gather = push ;; scan = doubling @ .. 8 , chain @ 8 .. 9 ;".parse();
    assert_eq!(other, Ok(one));
    assert_eq!(one.asked("scan", 8).unwrap(), Some("doubling"));
    assert_eq!(one.asked("scan", 10).unwrap(), None);
    assert_eq!("".parse(), Ok(Algorithms::default()));
}

#[test]
fn errors_quote_the_part() {
    for (text, part) in [
        ("ring", "\"ring\" is no request"),
        ("scan=", "\"scan=\" is no request"),
        ("scan=chain,", "\"scan=chain,\" is no request"),
        (
            "scam=chain",
            "operation \"scam\" is unknown: use one of barrier, broadcast",
        ),
        (
            "scan=chains",
            "no algorithm of scan is called 'chains': take one of chain, doubling",
        ),
        (
            "scan=chain:33K@8..",
            "no algorithm of scan is called 'chain:33K': take one of chain:4K, ",
        ),
        ("scan=chain@8", "\"chain@8\": \"8\" is no range of bytes"),
        ("scan=chain@9..8", "\"9..8\" is no range"),
        ("scan=chain@8X..", "\"8X..\" is no range"),
        ("scan=chain@..99999999999999G", "is no range"),
        ("scan=chain;scan=chain", "scan is asked for twice"),
        (
            "scan=chain@..8,doubling@7..",
            "scan: chain and doubling are asked for at the same",
        ),
        (
            "scan=chain,doubling",
            "scan: chain and doubling are asked for at the same lengths",
        ),
        ("barrier=tree@..8", "a barrier has no length"),
    ] {
        let error = text.parse::<Algorithms>().unwrap_err().to_string();
        assert!(
            error.contains(part) && !error.contains('\n'),
            "{text}: {error}"
        );
    }
    let odd: Vec<String> = (0..5)
        .map(|i| format!("chain@{}..{}", 4 * i, 4 * i + 2))
        .collect();
    let error = format!("scan={}", odd.join(","))
        .parse::<Algorithms>()
        .unwrap_err();
    assert!(
        error
            .to_string()
            .contains("scan: 11 ranges of lengths are more"),
        "{error}"
    );
}
