//! FILTER and GEOFILTER as parts of a query.

use super::{CircleFilter, NumberFilter, RequestError, SearchRequest};
use crate::definition::{Definition, FieldType};
use crate::query::{Query, every, range};
use crate::text::shown;

impl SearchRequest {
    /// Returns a query over an index with this definition, restricted to rows that all filters of the request admit.
    ///
    /// A filter of a field with NOINDEX admits no row. O(filters x fields).
    ///
    /// # Errors
    /// Returns which field of a filter does not exist or has another type.
    pub fn restricted(&self, query: Query, definition: &Definition) -> Result<Query, RequestError> {
        let mut parts = Vec::with_capacity(1 + self.number_filters.len() + self.circle_filters.len());
        for filter in &self.number_filters {
            parts.push(filter.query(definition)?);
        }
        for filter in &self.circle_filters {
            parts.push(filter.query(definition)?);
        }
        if query != Query::All || parts.is_empty() {
            parts.insert(0, query);
        }
        Ok(every(parts).unwrap_or(Query::Nothing))
    }
}

impl NumberFilter {
    fn query(&self, definition: &Definition) -> Result<Query, RequestError> {
        let field = definition.field(&self.field);
        let field = field.ok_or_else(|| RequestError::UnknownFilterField(shown(&self.field)))?;
        match definition.fields[field].field_type {
            FieldType::Numeric => Ok(range(field, self.from, self.to)),
            _ => Err(RequestError::FieldNotNumeric(shown(&self.field))),
        }
    }
}

impl CircleFilter {
    fn query(&self, definition: &Definition) -> Result<Query, RequestError> {
        let field = definition.field(&self.field);
        let field = field.ok_or_else(|| RequestError::UnknownCircleField(shown(&self.field)))?;
        let Self { longitude, latitude, radius_m, .. } = *self;
        match definition.fields[field].field_type {
            FieldType::Geo => Ok(Query::Circle { field, longitude, latitude, radius_m }),
            _ => Err(RequestError::FieldNotGeo(shown(&self.field))),
        }
    }
}
