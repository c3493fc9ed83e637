use super::*;

#[test]
fn names_and_numbers_are_those_of_one_collective() {
    for one in Collective::ALL {
        assert_eq!(one.name().parse(), Ok(one));
        assert_eq!(Collective::of_number(one.number()), Some(one));
        assert_eq!(one.has_root(), one.algorithms_of().has_root());
        let json = serde_json::to_string(&one).unwrap();
        assert_eq!(json, format!("\"{one}\""));
    }
    assert_eq!(Collective::of_number(0), None);
    assert_eq!(Collective::of_number(17), None);
    let error = "gossip".parse::<Collective>().unwrap_err();
    assert!(
        error
            .to_string()
            .contains("operation \"gossip\" is unknown: use one of barrier")
    );
}
