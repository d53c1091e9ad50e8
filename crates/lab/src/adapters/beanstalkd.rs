//! beanstalkd.

use super::{Adapter, Fsync, debian, owned};
use crate::protocol::Protocol;

/// beanstalkd.
pub(super) struct Beanstalkd;

impl Adapter for Beanstalkd {
    fn name(&self) -> &'static str {
        "beanstalkd"
    }

    fn program(&self) -> &'static str {
        "beanstalkd"
    }

    fn remedy(&self) -> String {
        debian("beanstalkd")
    }

    fn arguments(&self, port: u16, _: &str) -> Vec<String> {
        owned(&["-l", "127.0.0.1", "-p", &port.to_string()])
    }

    fn durability(&self, fsync: Fsync) -> Option<Vec<String>> {
        Some(owned(match fsync {
            Fsync::None => &[],
            Fsync::Everysec => &["-b", "{folder}", "-f", "1000"],
            Fsync::Always => &["-b", "{folder}", "-f", "0"],
        }))
    }

    fn protocol(&self) -> Protocol {
        Protocol::Beanstalk
    }

    fn version_flag(&self) -> &'static str {
        "-v"
    }
}
