-- Area: kernel. The span of the operation that wrote the event, in the form of W3C Trace Context. Null without tracing, and
-- for requests that are not sampled.
alter table events add column traceparent text;
