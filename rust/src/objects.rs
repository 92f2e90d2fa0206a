//! Objects in S3, Google Cloud Storage and Azure: get, put, presigned links. Calls block; a runtime of two threads does the I/O.
use std::{
    panic::{catch_unwind, AssertUnwindSafe},
    sync::{Arc, OnceLock},
    time::Duration,
};

use futures_util::StreamExt;
use http::Method;
use object_store::{
    aws::AmazonS3Builder, azure::MicrosoftAzureBuilder, gcp::GoogleCloudStorageBuilder, path::Path, signer::Signer,
    BackoffConfig, ClientOptions, Error, ObjectStore, PutPayload, RetryConfig,
};
use tokio::runtime::{Builder, Runtime};

use crate::ffi::{GetGuard, ObjectAnswer, ObjectConfig, ObjectStatus};

const LONGEST_MESSAGE: usize = 300;
const LOOK: Duration = Duration::from_millis(200);

pub struct RemoteStore {
    store: Arc<dyn ObjectStore>,
    signer: Arc<dyn Signer>,
    prefix: String,
}

fn runtime() -> &'static Runtime {
    static RUNTIME: OnceLock<Runtime> = OnceLock::new();
    RUNTIME.get_or_init(|| {
        Builder::new_multi_thread()
            .worker_threads(2)
            .thread_name("dq-objects")
            .enable_all()
            .build()
            .expect("a runtime of two threads")
    })
}

/// A query string may hold a signature; nothing after `?` is shown.
fn clean(message: &str) -> String {
    let mut out: String =
        message.split_whitespace().map(|word| word.split('?').next().unwrap_or("")).collect::<Vec<_>>().join(" ");
    if out.len() > LONGEST_MESSAGE {
        let mut end = LONGEST_MESSAGE;
        while !out.is_char_boundary(end) {
            end -= 1;
        }
        out.truncate(end);
    }
    out
}

fn answer(status: ObjectStatus, message: &str) -> ObjectAnswer {
    ObjectAnswer { status, message: clean(message), bytes: Vec::new() }
}

/// A bucket that is not there says nothing about its objects.
const NO_BUCKET: [&str; 4] =
    ["NoSuchBucket", "ContainerNotFound", "ContainerBeingDeleted", "specified bucket does not exist"];

fn failure(error: &Error) -> ObjectAnswer {
    // The source chain of an HTTP error is where the reason stands.
    let mut text = error.to_string();
    let mut source = std::error::Error::source(error);
    while let Some(cause) = source {
        text = format!("{text}: {cause}");
        source = cause.source();
    }
    let status = match error {
        Error::NotFound { .. } if NO_BUCKET.iter().any(|code| text.contains(code)) => ObjectStatus::Unavailable,
        Error::NotFound { .. } => ObjectStatus::Missing,
        Error::PermissionDenied { .. } => ObjectStatus::Denied,
        Error::InvalidPath { .. } => ObjectStatus::InvalidKey,
        _ => ObjectStatus::Unavailable,
    };
    answer(status, &text)
}

fn guarded(work: impl FnOnce() -> ObjectAnswer) -> ObjectAnswer {
    catch_unwind(AssertUnwindSafe(work))
        .unwrap_or_else(|_| answer(ObjectStatus::Unavailable, "the object client failed"))
}

fn opt(text: &str) -> Option<&str> {
    (!text.is_empty()).then_some(text)
}

fn open(config: &ObjectConfig) -> Result<RemoteStore, Error> {
    let retry = RetryConfig {
        backoff: BackoffConfig {
            init_backoff: Duration::from_millis(u64::from(config.backoff_ms)),
            max_backoff: Duration::from_secs(5),
            base: 2.0,
        },
        max_retries: config.attempts.saturating_sub(1) as usize,
        retry_timeout: Duration::from_millis(u64::from(config.timeout_ms) * u64::from(config.attempts.max(1))),
    };
    let client = ClientOptions::new()
        .with_timeout(Duration::from_millis(u64::from(config.timeout_ms)))
        .with_connect_timeout(Duration::from_millis(u64::from(config.timeout_ms.min(10_000))))
        .with_allow_http(config.endpoint.starts_with("http://"));
    let prefix = config.prefix.clone();
    match config.scheme.as_str() {
        "gs" => {
            let builder = GoogleCloudStorageBuilder::from_env().with_bucket_name(&config.bucket);
            let store = Arc::new(builder.with_retry(retry).with_client_options(client).build()?);
            Ok(RemoteStore { store: store.clone(), signer: store, prefix })
        }
        "az" => {
            let mut builder = MicrosoftAzureBuilder::from_env().with_container_name(&config.bucket);
            if let Some(endpoint) = opt(&config.endpoint) {
                builder = builder.with_endpoint(endpoint.to_string());
            }
            let store = Arc::new(builder.with_retry(retry).with_client_options(client).build()?);
            Ok(RemoteStore { store: store.clone(), signer: store, prefix })
        }
        _ => {
            let fixed = !config.access_key_id.is_empty() && !config.secret_access_key.is_empty();
            let mut builder = if fixed { AmazonS3Builder::new() } else { AmazonS3Builder::from_env() };
            if fixed {
                builder =
                    builder.with_access_key_id(&config.access_key_id).with_secret_access_key(&config.secret_access_key);
            }
            if let Some(region) = opt(&config.region) {
                builder = builder.with_region(region);
            }
            if let Some(endpoint) = opt(&config.endpoint) {
                builder = builder.with_endpoint(endpoint).with_virtual_hosted_style_request(false);
            }
            let store = Arc::new(
                builder.with_bucket_name(&config.bucket).with_retry(retry).with_client_options(client).build()?,
            );
            Ok(RemoteStore { store: store.clone(), signer: store, prefix })
        }
    }
}

/// Null with a message in `error` when the configuration cannot be used. Reaches no network.
pub fn objects_open(config: &ObjectConfig, error: &mut String) -> Vec<RemoteStore> {
    let opened = catch_unwind(AssertUnwindSafe(|| {
        // Clients are made inside the runtime that will drive them.
        let _entered = runtime().enter();
        open(config)
    }));
    match opened {
        Ok(Ok(store)) => vec![store],
        Ok(Err(problem)) => {
            *error = failure(&problem).message;
            Vec::new()
        }
        Err(_) => {
            *error = "the object client failed".to_string();
            Vec::new()
        }
    }
}

impl RemoteStore {
    fn path(&self, key: &str) -> Result<Path, ObjectAnswer> {
        let full = if self.prefix.is_empty() { key.to_string() } else { format!("{}/{key}", self.prefix) };
        Path::parse(full).map_err(|problem| answer(ObjectStatus::InvalidKey, &problem.to_string()))
    }

    async fn fetch(&self, path: &Path, limit: u64, guard: &GetGuard) -> Result<ObjectAnswer, Error> {
        let got = self.store.get(path).await?;
        if got.meta.size > limit {
            return Ok(answer(ObjectStatus::TooLarge, "the object is larger than allowed"));
        }
        // Waits for room: the body is not read before.
        if !guard.admit(got.meta.size) {
            return Ok(answer(ObjectStatus::Cancelled, "cancelled"));
        }
        let mut bytes = Vec::with_capacity(got.meta.size as usize);
        let mut body = got.into_stream();
        while let Some(part) = body.next().await {
            let part = part?;
            if (bytes.len() + part.len()) as u64 > limit {
                return Ok(answer(ObjectStatus::TooLarge, "the object is larger than allowed"));
            }
            bytes.extend_from_slice(&part);
        }
        Ok(ObjectAnswer { status: ObjectStatus::Ok, message: String::new(), bytes })
    }

    pub fn get(&self, key: &str, limit: u64, guard: &GetGuard) -> ObjectAnswer {
        guarded(|| {
            let path = match self.path(key) {
                Ok(path) => path,
                Err(refusal) => return refusal,
            };
            runtime().block_on(async {
                let fetched = self.fetch(&path, limit, guard);
                tokio::pin!(fetched);
                loop {
                    tokio::select! {
                        done = &mut fetched => return done.unwrap_or_else(|error| failure(&error)),
                        () = tokio::time::sleep(LOOK) => {
                            if guard.cancelled() {
                                return answer(ObjectStatus::Cancelled, "cancelled");
                            }
                        }
                    }
                }
            })
        })
    }

    pub fn put(&self, key: &str, bytes: &[u8]) -> ObjectAnswer {
        guarded(|| {
            let path = match self.path(key) {
                Ok(path) => path,
                Err(refusal) => return refusal,
            };
            let payload = PutPayload::from(bytes.to_vec());
            match runtime().block_on(self.store.put(&path, payload)) {
                Ok(_) => answer(ObjectStatus::Ok, ""),
                Err(error) => failure(&error),
            }
        })
    }

    /// A link that reads the object without other credentials for `seconds`.
    pub fn presign(&self, key: &str, seconds: u64) -> ObjectAnswer {
        guarded(|| {
            let path = match self.path(key) {
                Ok(path) => path,
                Err(refusal) => return refusal,
            };
            match runtime().block_on(self.signer.signed_url(Method::GET, &path, Duration::from_secs(seconds))) {
                Ok(url) => ObjectAnswer {
                    status: ObjectStatus::Ok,
                    message: String::new(),
                    bytes: url.to_string().into_bytes(),
                },
                Err(error) => failure(&error),
            }
        })
    }
}
