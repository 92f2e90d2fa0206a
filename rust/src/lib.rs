//! Rust parts of dq behind one C++ bridge: the GraphQL language, H3 cells, object storage.
//!
//! Every function that C++ calls catches panics: none crosses the bridge. Text comes in as bytes, since C++ promises no UTF-8.

mod coerce;
mod collect;
mod document;
mod h3;
mod introspect;
mod json;
mod objects;
mod plan;
mod schema;
mod suggest;
mod value;
mod variables;

use h3::h3_cell_center;
use json::json_is_valid;
use objects::{objects_open, RemoteStore};
use plan::plan_operation;
use schema::schema_fields;

#[cxx::bridge(namespace = "dq::rust")]
mod ffi {
    struct CellCenter {
        found: bool,
        latitude: f64,
        longitude: f64,
    }

    /// A field definition of an object type; definitions of one type lie together, in schema order.
    struct FieldDef {
        parent_type: String,
        name: String,
        /// As written, e.g. `[SignalAggregations!]`.
        ty: String,
        named_type: String,
        agg_type: String,
        non_null: bool,
        is_list: bool,
        item_non_null: bool,
        directives: Vec<DirectiveUse>,
    }
    struct DirectiveUse {
        name: String,
        /// Values of its first argument that is a list of enum values.
        list: Vec<String>,
    }

    #[derive(Debug, PartialEq)]
    enum PlanStatus {
        Ok,
        ParseFailed,
        Invalid,
        TooComplex,
        /// The planner itself failed.
        Broken,
    }
    struct PlanLimits {
        /// Exactly this complexity passes.
        complexity: u32,
        document_bytes: usize,
    }
    struct PlanError {
        message: String,
        /// 0 when the error has no place in the document.
        line: u32,
        column: u32,
        path: Vec<PathStep>,
    }
    /// A member's name, or an index into a list. Names may be any text: callers choose those of unknown members.
    struct PathStep {
        is_index: bool,
        index: usize,
        name: String,
    }
    struct ArgumentError {
        /// Below the field: argument name, then members and list indices.
        path: Vec<PathStep>,
        message: String,
    }
    /// A selected field. Nodes lie in pre-order: a node, its arguments' values and errors, then its children.
    struct PlanNode {
        key: String,
        /// Index into schema_fields(), or one of the META_ values of plan.rs.
        definition: u32,
        children: u32,
        arguments: u32,
        argument_errors: u32,
        /// Result of an introspection field.
        json: String,
    }
    #[derive(Debug, PartialEq)]
    enum ValueKind {
        Null,
        Bool,
        Int,
        Float,
        Text,
        List,
        Object,
        /// A custom scalar: `text` is its name, its input value follows.
        Custom,
    }
    /// Values lie in pre-order: a list or object is followed by its `size` items.
    struct PlanValue {
        kind: ValueKind,
        /// Argument or object member name, "" for list items.
        name: String,
        text: String,
        integer: i64,
        number: f64,
        size: u32,
    }
    struct Plan {
        status: PlanStatus,
        errors: Vec<PlanError>,
        /// -1 when it was not computed.
        complexity: i32,
        /// Number of root nodes.
        roots: u32,
        nodes: Vec<PlanNode>,
        values: Vec<PlanValue>,
        argument_errors: Vec<ArgumentError>,
    }

    struct ObjectConfig {
        /// s3, gs or az.
        scheme: String,
        bucket: String,
        prefix: String,
        region: String,
        access_key_id: String,
        secret_access_key: String,
        endpoint: String,
        timeout_ms: u32,
        attempts: u32,
        backoff_ms: u32,
    }
    #[derive(Debug, PartialEq)]
    enum ObjectStatus {
        Ok,
        Missing,
        Denied,
        TooLarge,
        InvalidKey,
        Unavailable,
        Cancelled,
    }
    struct ObjectAnswer {
        status: ObjectStatus,
        message: String,
        bytes: Vec<u8>,
    }

    unsafe extern "C++" {
        include!("blob/get_guard.h");
        #[namespace = "dq::blob"]
        type GetGuard;
        /// Waits until that many bytes may be held; false when cancelled.
        fn admit(self: &GetGuard, bytes: u64) -> bool;
        fn cancelled(self: &GetGuard) -> bool;
    }

    extern "Rust" {
        type RemoteStore;
        fn objects_open(config: &ObjectConfig, error: &mut String) -> Vec<RemoteStore>;
        fn get(self: &RemoteStore, key: &str, limit: u64, guard: &GetGuard) -> ObjectAnswer;
        fn put(self: &RemoteStore, key: &str, bytes: &[u8]) -> ObjectAnswer;
        fn presign(self: &RemoteStore, key: &str, seconds: u64) -> ObjectAnswer;
        fn h3_cell_center(latitude: f64, longitude: f64) -> CellCenter;
        fn json_is_valid(text: &[u8]) -> bool;
        fn schema_fields() -> Vec<FieldDef>;
        fn plan_operation(
            query: &[u8],
            operation_name: &[u8],
            variables_json: &[u8],
            introspection: bool,
            limits: PlanLimits,
        ) -> Plan;
    }
}
