use super::*;

fn refused(root: usize, children: Vec<Vec<usize>>, part: &str) {
    let error = Tree::from_children(root, children).unwrap_err().to_string();
    assert!(error.contains(part), "{error:?} lacks {part:?}");
}

#[test]
fn bad_lists_are_refused() {
    refused(0, vec![], "no members");
    refused(2, vec![vec![1], vec![]], "root 2 is outside");
    refused(0, vec![vec![2], vec![]], "lists child 2");
    refused(
        0,
        vec![vec![1, 1], vec![]],
        "child of rank 0 and again of rank 0",
    );
    refused(
        0,
        vec![vec![1, 2], vec![], vec![1]],
        "child of rank 0 and again of rank 2",
    );
    refused(0, vec![vec![1], vec![0]], "lists the root 0");
    refused(0, vec![vec![0]], "lists the root 0");
    refused(0, vec![vec![], vec![]], "rank 1 is not reached");
    refused(
        0,
        vec![vec![], vec![2], vec![1]],
        "rank 1 is its own ancestor",
    );
}

#[test]
fn walks_agree() {
    let lists = vec![vec![1], vec![], vec![0, 4, 3], vec![], vec![5], vec![]];
    let tree = Tree::from_children(2, lists).unwrap();
    assert_eq!(tree.order(), [2, 0, 4, 3, 1, 5]);
    assert_eq!(tree.subtree(2).collect::<Vec<_>>(), [2, 0, 1, 4, 5, 3]);
    assert_eq!(tree.ancestors(5).collect::<Vec<_>>(), [4, 2]);
    assert_eq!(tree.subtree_sizes(), [2, 1, 6, 1, 2, 1]);
    assert_eq!(tree.depths(), [1, 2, 0, 1, 1, 2]);
    assert_eq!(tree.reversed().children(2), [3, 4, 0]);
    assert_eq!(tree.reversed().reversed(), tree);
}

#[test]
fn a_long_chain_overflows_nothing() {
    let n = 100_000;
    let mut lists: Vec<Vec<usize>> = (1..n).map(|v| vec![v]).collect();
    lists.push(vec![]);
    let tree = Tree::from_children(0, lists).unwrap();
    assert_eq!(tree.depth(), n - 1);
    assert_eq!(tree.subtree(0).count(), n);
    assert_eq!(tree.ancestors(n - 1).count(), n - 1);
}
