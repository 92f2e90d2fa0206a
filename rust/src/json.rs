//! Is stored text JSON? Any depth, any number; no tree is built.
use std::panic::catch_unwind;

use serde::de::IgnoredAny;

/// True for one JSON value in UTF-8 and nothing after it but white space.
pub fn json_is_valid(text: &[u8]) -> bool {
    catch_unwind(|| std::str::from_utf8(text).is_ok_and(|text| serde_json::from_str::<IgnoredAny>(text).is_ok()))
        .unwrap_or(false)
}
