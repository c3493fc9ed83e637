//! What the code of a module names: every path in it, also in the arguments and bodies of macros.

use proc_macro2::{TokenStream, TokenTree};
use syn::visit::{self, Visit};
use syn::{Attribute, ForeignItem, ImplItem, Item, Stmt, TraitItem};

use crate::modules::{name_of, only_for_tests};

/// What the code of one module names.
#[derive(Default)]
pub(crate) struct Code<'a> {
    /// Paths and their lines.
    pub(crate) paths: Vec<(Vec<String>, usize)>,
    /// The `use` lines inside of functions.
    pub(crate) inner_uses: Vec<&'a syn::ItemUse>,
    depth: usize,
}

/// Reads the code of a module's items, without the modules inside of it and without its own `use` lines.
pub(crate) fn code(items: &[Item]) -> Code<'_> {
    let mut code = Code::default();
    for item in items {
        if !matches!(item, Item::Mod(_) | Item::Use(_)) {
            code.visit_item(item);
        }
    }
    code
}

impl<'a> Code<'a> {
    /// Paths in tokens that are not parsed: those of macros. A name behind a dot is a field or a method.
    fn tokens(&mut self, tokens: TokenStream) {
        let mut path: Vec<String> = Vec::new();
        let mut line = 0;
        let mut colons = 0;
        let mut after_dot = false;
        for token in tokens {
            match token {
                TokenTree::Ident(ident) => {
                    if colons != 2 {
                        self.end(&mut path, line);
                    }
                    if path.is_empty() {
                        line = ident.span().start().line;
                    }
                    if !after_dot {
                        path.push(name_of(&ident));
                    }
                    (colons, after_dot) = (0, false);
                }
                TokenTree::Punct(point) if point.as_char() == ':' => {
                    colons += 1;
                    after_dot = false;
                }
                other => {
                    self.end(&mut path, line);
                    (colons, after_dot) = (0, false);
                    match other {
                        TokenTree::Group(group) => self.tokens(group.stream()),
                        TokenTree::Punct(point) => after_dot = point.as_char() == '.',
                        _ => {}
                    }
                }
            }
        }
        self.end(&mut path, line);
    }

    fn end(&mut self, path: &mut Vec<String>, line: usize) {
        if !path.is_empty() {
            self.paths.push((std::mem::take(path), line));
        }
    }
}

impl<'a> Visit<'a> for Code<'a> {
    fn visit_item(&mut self, item: &'a Item) {
        if item_attributes(item).is_some_and(only_for_tests) {
            return;
        }
        match item {
            Item::Use(inner) if self.depth > 0 => self.inner_uses.push(inner),
            _ => {
                self.depth += 1;
                visit::visit_item(self, item);
                self.depth -= 1;
            }
        }
    }

    fn visit_impl_item(&mut self, item: &'a ImplItem) {
        let attributes = match item {
            ImplItem::Const(it) => &it.attrs,
            ImplItem::Fn(it) => &it.attrs,
            ImplItem::Type(it) => &it.attrs,
            ImplItem::Macro(it) => &it.attrs,
            _ => return,
        };
        if !only_for_tests(attributes) {
            visit::visit_impl_item(self, item);
        }
    }

    fn visit_trait_item(&mut self, item: &'a TraitItem) {
        let attributes = match item {
            TraitItem::Const(it) => &it.attrs,
            TraitItem::Fn(it) => &it.attrs,
            TraitItem::Type(it) => &it.attrs,
            TraitItem::Macro(it) => &it.attrs,
            _ => return,
        };
        if !only_for_tests(attributes) {
            visit::visit_trait_item(self, item);
        }
    }

    fn visit_stmt(&mut self, statement: &'a Stmt) {
        let attributes: &[Attribute] = match statement {
            Stmt::Local(it) => &it.attrs,
            Stmt::Macro(it) => &it.attrs,
            _ => &[],
        };
        if !only_for_tests(attributes) {
            visit::visit_stmt(self, statement);
        }
    }

    fn visit_field(&mut self, field: &'a syn::Field) {
        if !only_for_tests(&field.attrs) {
            visit::visit_field(self, field);
        }
    }

    fn visit_variant(&mut self, variant: &'a syn::Variant) {
        if !only_for_tests(&variant.attrs) {
            visit::visit_variant(self, variant);
        }
    }

    fn visit_arm(&mut self, arm: &'a syn::Arm) {
        if !only_for_tests(&arm.attrs) {
            visit::visit_arm(self, arm);
        }
    }

    fn visit_path(&mut self, path: &'a syn::Path) {
        if path.leading_colon.is_none() {
            let names = path.segments.iter().map(|part| name_of(&part.ident));
            let line = path.segments.first().map(|part| part.ident.span().start());
            self.paths
                .push((names.collect(), line.map_or(0, |at| at.line)));
        }
        visit::visit_path(self, path);
    }

    // A constant in a pattern looks like a new variable, but for its letters.
    fn visit_pat_ident(&mut self, pattern: &'a syn::PatIdent) {
        let name = name_of(&pattern.ident);
        if name.starts_with(char::is_uppercase) {
            let line = pattern.ident.span().start().line;
            self.paths.push((vec![name], line));
        }
        visit::visit_pat_ident(self, pattern);
    }

    fn visit_macro(&mut self, call: &'a syn::Macro) {
        self.visit_path(&call.path);
        self.tokens(call.tokens.clone());
    }

    // Where something may be seen from is no use of it.
    fn visit_vis_restricted(&mut self, _: &'a syn::VisRestricted) {}

    fn visit_attribute(&mut self, _: &'a Attribute) {}
}

/// The names that an item declares, but for modules and imports.
pub(crate) fn declared(item: &Item) -> Vec<String> {
    let ident = match item {
        Item::Const(it) => &it.ident,
        Item::Enum(it) => &it.ident,
        Item::Fn(it) => &it.sig.ident,
        Item::Static(it) => &it.ident,
        Item::Struct(it) => &it.ident,
        Item::Trait(it) => &it.ident,
        Item::TraitAlias(it) => &it.ident,
        Item::Type(it) => &it.ident,
        Item::Union(it) => &it.ident,
        Item::ForeignMod(block) => {
            let idents = block.items.iter().filter_map(|item| match item {
                ForeignItem::Fn(it) => Some(name_of(&it.sig.ident)),
                ForeignItem::Static(it) => Some(name_of(&it.ident)),
                ForeignItem::Type(it) => Some(name_of(&it.ident)),
                _ => None,
            });
            return idents.collect();
        }
        Item::Macro(call) => {
            return match &call.ident {
                Some(ident) => vec![name_of(ident)],
                None => declared_in(call.mac.tokens.clone()),
            };
        }
        _ => return Vec::new(),
    };
    vec![name_of(ident)]
}

/// The items that a macro declares by their keywords, as in `thread_local! { static NAME … }`.
fn declared_in(tokens: TokenStream) -> Vec<String> {
    const KEYWORDS: [&str; 8] = [
        "struct", "enum", "fn", "const", "static", "trait", "type", "union",
    ];
    let mut names = Vec::new();
    let mut after_keyword = false;
    for token in tokens {
        if let TokenTree::Ident(ident) = &token {
            let name = name_of(ident);
            let is_keyword = KEYWORDS.contains(&name.as_str());
            if after_keyword && !is_keyword {
                names.push(name);
            }
            after_keyword = is_keyword;
        } else {
            after_keyword = false;
        }
    }
    names
}

/// The attributes of an item.
pub(crate) fn item_attributes(item: &Item) -> Option<&[Attribute]> {
    Some(match item {
        Item::Const(it) => &it.attrs,
        Item::Enum(it) => &it.attrs,
        Item::ExternCrate(it) => &it.attrs,
        Item::Fn(it) => &it.attrs,
        Item::ForeignMod(it) => &it.attrs,
        Item::Impl(it) => &it.attrs,
        Item::Macro(it) => &it.attrs,
        Item::Mod(it) => &it.attrs,
        Item::Static(it) => &it.attrs,
        Item::Struct(it) => &it.attrs,
        Item::Trait(it) => &it.attrs,
        Item::TraitAlias(it) => &it.attrs,
        Item::Type(it) => &it.attrs,
        Item::Union(it) => &it.attrs,
        Item::Use(it) => &it.attrs,
        _ => return None,
    })
}
