//! The modules of a crate: in which file each one stands, and what its names mean.
//!
//! A crate is read from its root file on, along its `mod` declarations. Code that only tests compile
//! (`#[cfg(test)]`) is left out. For each module the names that it declares or imports are kept, so that a
//! path in the code can be followed to the file that *defines* what it names, through any number of
//! re-exports ([`Crate::resolve`]).

use std::collections::{BTreeMap, BTreeSet};

use syn::punctuated::Punctuated;
use syn::{Attribute, Expr, Item, Lit, Meta, Token, UseTree};

use crate::imports;

/// Source files, by path relative to the workspace's folder.
pub(crate) type Sources = BTreeMap<String, String>;

/// One crate: the modules below one root file.
#[derive(Default)]
pub(crate) struct Crate {
    /// Paths of the files that belong to it; elsewhere files are numbers into this list.
    pub(crate) files: Vec<String>,
    /// The root first.
    pub(crate) modules: Vec<Module>,
}

/// A module, inline or with a file of its own.
pub(crate) struct Module {
    pub(crate) file: usize,
    parent: Option<usize>,
    /// A name can have several meanings: in different namespaces, or under different `cfg`.
    names: BTreeMap<String, Vec<Meaning>>,
    globs: Vec<Import>,
    /// Private imports, which may bring a trait into scope for its methods alone.
    private: Vec<Import>,
    /// The paths that its own code names.
    pub(crate) paths: Vec<(Vec<String>, usize)>,
}

#[derive(Clone)]
enum Meaning {
    Module(usize),
    Item { file: usize, kind: Kind },
    Import(Import),
}

/// One name that a `use` brings in.
#[derive(Clone)]
pub(crate) struct Import {
    pub(crate) path: Vec<String>,
    pub(crate) line: usize,
}

/// What a path names.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Named {
    Module(usize),
    Item { file: usize, kind: Kind },
}

/// What an item is, as far as paths and imports ask.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Kind {
    /// Its methods can be called where it is in scope.
    Trait,
    /// Something can be named in it: variants, functions.
    Type,
    /// A function, a constant, a macro.
    Value,
}

impl Crate {
    /// Reads the crate whose root file this is.
    ///
    /// # Panics
    /// When a file cannot be parsed, or a declared module has none.
    pub(crate) fn read(sources: &Sources, root: &str) -> Crate {
        let mut all = Crate::default();
        let folder = root.rsplit_once('/').map_or("", |(folder, _)| folder);
        all.read_file(sources, root, folder, None);
        all
    }

    /// Reads a module's file; its children are files below `folder`.
    fn read_file(
        &mut self,
        sources: &Sources,
        path: &str,
        folder: &str,
        parent: Option<usize>,
    ) -> usize {
        let text = &sources[path];
        let parsed = syn::parse_file(text).unwrap_or_else(|e| panic!("{path}: {e}"));
        let known = self.files.iter().position(|file| file == path);
        let file = known.unwrap_or_else(|| {
            self.files.push(path.to_owned());
            self.files.len() - 1
        });
        self.read_module(sources, &parsed.items, file, folder, parent)
    }

    fn read_module(
        &mut self,
        sources: &Sources,
        items: &[Item],
        file: usize,
        folder: &str,
        parent: Option<usize>,
    ) -> usize {
        let this = self.modules.len();
        self.modules.push(Module {
            file,
            parent,
            names: BTreeMap::new(),
            globs: Vec::new(),
            private: Vec::new(),
            paths: Vec::new(),
        });
        for item in items {
            if imports::item_attributes(item).is_some_and(only_for_tests) {
                continue;
            }
            match item {
                Item::Mod(module) => {
                    let name = name_of(&module.ident);
                    let below = join(folder, &name);
                    let child = match &module.content {
                        Some((_, items)) => {
                            self.read_module(sources, items, file, &below, Some(this))
                        }
                        None => {
                            let (path, folder) = self.file_of(sources, module, file, folder);
                            self.read_file(sources, &path, &folder, Some(this))
                        }
                    };
                    self.declare(this, name, Meaning::Module(child));
                }
                Item::Use(item) if item.leading_colon.is_none() => {
                    let is_private = matches!(item.vis, syn::Visibility::Inherited);
                    self.import(this, &item.tree, &mut Vec::new(), is_private);
                }
                _ => {
                    let kind = kind_of(item);
                    let meaning = Meaning::Item { file, kind };
                    for name in imports::declared(item) {
                        // An exported macro is a name of the root as well.
                        if this != 0 && matches!(item, Item::Macro(_)) {
                            self.declare(0, name.clone(), meaning.clone());
                        }
                        self.declare(this, name, meaning.clone());
                    }
                }
            }
        }
        let code = imports::code(items);
        self.modules[this].paths = code.paths;
        // What a function imports for itself counts as its module's, where the module has no such name.
        for item in &code.inner_uses {
            self.import(this, &item.tree, &mut Vec::new(), true);
        }
        this
    }

    /// The file of `mod name;`, and the folder of its children.
    fn file_of(
        &self,
        sources: &Sources,
        module: &syn::ItemMod,
        file: usize,
        folder: &str,
    ) -> (String, String) {
        let here = self.files[file].rsplit_once('/').map_or("", |(f, _)| f);
        if let Some(given) = module.attrs.iter().find_map(path_attribute) {
            let path = normal(&join(here, &given));
            let folder = path.rsplit_once('/').map_or("", |(f, _)| f).to_owned();
            return (path, folder);
        }
        let below = join(folder, &name_of(&module.ident));
        let choices = [format!("{below}.rs"), format!("{below}/mod.rs")];
        let found = choices.into_iter().find(|path| sources.contains_key(path));
        let path = found.unwrap_or_else(|| panic!("no file for the module {below}"));
        (path, below)
    }

    fn declare(&mut self, module: usize, name: String, meaning: Meaning) {
        let names = &mut self.modules[module].names;
        names.entry(name).or_default().push(meaning);
    }

    fn import(&mut self, module: usize, tree: &UseTree, path: &mut Vec<String>, private: bool) {
        let mut add = |name: String, mut path: Vec<String>, ident: &syn::Ident| {
            if path.last().is_some_and(|last| last == "self") {
                path.pop();
            }
            let line = ident.span().start().line;
            let import = Import { path, line };
            if private {
                self.modules[module].private.push(import.clone());
            }
            self.declare(module, name, Meaning::Import(import));
        };
        match tree {
            UseTree::Path(step) => {
                path.push(name_of(&step.ident));
                self.import(module, &step.tree, path, private);
                path.pop();
            }
            UseTree::Name(leaf) => {
                let name = name_of(&leaf.ident);
                let whole: Vec<_> = path.iter().cloned().chain([name.clone()]).collect();
                // `use a::b::{self}` brings in `b`.
                let name = match (name.as_str(), path.last()) {
                    ("self", Some(last)) => last.clone(),
                    _ => name,
                };
                add(name, whole, &leaf.ident);
            }
            UseTree::Rename(leaf) => {
                let whole = path.iter().cloned().chain([name_of(&leaf.ident)]);
                add(name_of(&leaf.rename), whole.collect(), &leaf.ident);
            }
            UseTree::Glob(star) => {
                let line = star.star_token.spans[0].start().line;
                let path = path.clone();
                self.modules[module].globs.push(Import { path, line });
            }
            UseTree::Group(group) => {
                for tree in &group.items {
                    self.import(module, tree, path, private);
                }
            }
        }
    }

    /// Everything that a path may name, as seen from a module. Paths to other crates name nothing here.
    pub(crate) fn resolve(&self, module: usize, path: &[String]) -> BTreeSet<Named> {
        self.walk(module, path, &mut Vec::new())
    }

    /// The imports of a module that need no further mention in its code, and the files that they lead to:
    /// private ones of a trait, whose methods it calls, and all variants of an enum.
    pub(crate) fn silent_imports(&self, module: usize) -> Vec<(&Import, usize)> {
        let Module { private, globs, .. } = &self.modules[module];
        let traits = private.iter().map(|import| (import, true));
        let enums = globs.iter().map(|import| (import, false));
        let mut silent = Vec::new();
        for (import, only_traits) in traits.chain(enums) {
            for named in self.resolve(module, &import.path) {
                if let Named::Item { file, kind } = named
                    && (kind == Kind::Trait || !only_traits)
                {
                    silent.push((import, file));
                }
            }
        }
        silent
    }

    /// The line of the `use` by which a module knows a name, when it has one.
    pub(crate) fn import_line(&self, module: usize, name: &str) -> Option<usize> {
        let meanings = self.modules[module].names.get(name)?;
        meanings.iter().find_map(|meaning| match meaning {
            Meaning::Import(import) => Some(import.line),
            _ => None,
        })
    }

    /// `busy` holds the imports that are being followed, against those that lead back to themselves.
    fn walk(
        &self,
        module: usize,
        path: &[String],
        busy: &mut Vec<(usize, String, usize)>,
    ) -> BTreeSet<Named> {
        let Some((first, rest)) = path.split_first() else {
            return BTreeSet::from([Named::Module(module)]);
        };
        let starts = match first.as_str() {
            "crate" => BTreeSet::from([Named::Module(0)]),
            "self" => BTreeSet::from([Named::Module(module)]),
            "super" => {
                let parent = self.modules[module].parent;
                parent.map(Named::Module).into_iter().collect()
            }
            name => self.lookup(module, name, busy),
        };
        let mut found = BTreeSet::new();
        for start in starts {
            match start {
                Named::Module(next) => found.extend(self.walk(next, rest, busy)),
                // A module and a function may have one name.
                Named::Item { kind, .. } if kind == Kind::Value && !rest.is_empty() => {}
                // What follows a type, a variant or a method, belongs to it.
                Named::Item { .. } => {
                    found.insert(start);
                }
            }
        }
        found
    }

    fn lookup(
        &self,
        module: usize,
        name: &str,
        busy: &mut Vec<(usize, String, usize)>,
    ) -> BTreeSet<Named> {
        let mut found = BTreeSet::new();
        let Module { names, globs, .. } = &self.modules[module];
        for (number, meaning) in names.get(name).into_iter().flatten().enumerate() {
            match meaning {
                Meaning::Module(child) => {
                    found.insert(Named::Module(*child));
                }
                Meaning::Item { file, kind } => {
                    let (file, kind) = (*file, *kind);
                    found.insert(Named::Item { file, kind });
                }
                Meaning::Import(import) => {
                    found.extend(self.follow(module, name, number, &import.path, busy));
                }
            }
        }
        if found.is_empty() {
            for (number, glob) in globs.iter().enumerate() {
                let number = usize::MAX - number;
                for whole in self.follow(module, name, number, &glob.path, busy) {
                    match whole {
                        Named::Module(next) if next != module => {
                            found.extend(self.lookup(next, name, busy));
                        }
                        // The variants of an enum: their import is counted by itself.
                        Named::Module(_) | Named::Item { .. } => {}
                    }
                }
            }
        }
        found
    }

    fn follow(
        &self,
        module: usize,
        name: &str,
        number: usize,
        path: &[String],
        busy: &mut Vec<(usize, String, usize)>,
    ) -> BTreeSet<Named> {
        let step = (module, name.to_owned(), number);
        if busy.contains(&step) {
            return BTreeSet::new();
        }
        busy.push(step);
        let found = self.walk(module, path, busy);
        busy.pop();
        found
    }
}

fn kind_of(item: &Item) -> Kind {
    match item {
        Item::Trait(_) | Item::TraitAlias(_) => Kind::Trait,
        Item::Fn(_) | Item::Const(_) | Item::Static(_) => Kind::Value,
        Item::Macro(call) if call.ident.is_some() => Kind::Value,
        _ => Kind::Type,
    }
}

/// An identifier as text, without the `r#` of a keyword.
pub(crate) fn name_of(ident: &syn::Ident) -> String {
    let text = ident.to_string();
    text.strip_prefix("r#").map(str::to_owned).unwrap_or(text)
}

fn join(folder: &str, name: &str) -> String {
    match folder {
        "" => name.to_owned(),
        _ => format!("{folder}/{name}"),
    }
}

/// Without `..`.
fn normal(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            ".." => {
                parts.pop();
            }
            "." | "" => {}
            _ => parts.push(part),
        }
    }
    parts.join("/")
}

fn path_attribute(attribute: &Attribute) -> Option<String> {
    match &attribute.meta {
        Meta::NameValue(pair) if pair.path.is_ident("path") => match &pair.value {
            Expr::Lit(text) => match &text.lit {
                Lit::Str(text) => Some(text.value()),
                _ => None,
            },
            _ => None,
        },
        _ => None,
    }
}

/// Whether what these attributes stand on is compiled for tests alone.
pub(crate) fn only_for_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| match &attribute.meta {
        Meta::List(list) if list.path.is_ident("cfg") => {
            let condition = list.parse_args::<Meta>();
            condition.is_ok_and(|condition| holds(&condition) == Some(false))
        }
        _ => false,
    })
}

/// Whether a condition of `cfg` holds in a build without tests; `None` where that depends on other things.
fn holds(condition: &Meta) -> Option<bool> {
    let inner = |list: &syn::MetaList| {
        let parser = Punctuated::<Meta, Token![,]>::parse_terminated;
        let parts = list.parse_args_with(parser).unwrap_or_default();
        parts.iter().map(holds).collect::<Vec<_>>()
    };
    match condition {
        Meta::Path(path) if path.is_ident("test") => Some(false),
        Meta::List(list) if list.path.is_ident("not") => inner(list).first()?.map(|it| !it),
        Meta::List(list) if list.path.is_ident("all") => match inner(list) {
            parts if parts.contains(&Some(false)) => Some(false),
            parts if parts.contains(&None) => None,
            _ => Some(true),
        },
        Meta::List(list) if list.path.is_ident("any") => match inner(list) {
            parts if parts.contains(&Some(true)) => Some(true),
            parts if parts.contains(&None) => None,
            _ => Some(false),
        },
        _ => None,
    }
}
