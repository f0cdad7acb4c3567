/**
 * Everything that a span may say: names and numbers of ours, and ids of records. Never a body, a query, a header, an
 * address, a secret, or anything that a client or a merchant has written.
 */
export interface SpanAttributes {
  readonly 'http.request.method'?: string
  /** The path of the contract, with the names of its parameters. */
  readonly 'http.route'?: string
  readonly 'http.response.status_code'?: number
  /** The code of a refusal, or the kind of a failure. */
  readonly 'error.type'?: string
  readonly 'agentpay.operation'?: string
  readonly 'agentpay.batch_size'?: number
  readonly 'agentpay.event'?: string
  readonly 'agentpay.event_id'?: string
  readonly 'agentpay.webhook_id'?: string
  readonly 'temporal.workflow_id'?: string
  readonly 'temporal.activity'?: string
  readonly 'temporal.attempt'?: number
}

export interface SpanStart {
  readonly name: string
  readonly kind?: 'internal' | 'server' | 'client' | 'producer' | 'consumer'
  /** A `traceparent` of W3C Trace Context. An invalid one counts as none: then the span is below the one around it. */
  readonly parent?: string | undefined
  /** The same, but where the span around is of that trace, it is the nearer parent. Otherwise it is linked. */
  readonly cause?: string | undefined
  /** Begins a trace if there is no parent. Other spans without a parent are left out. */
  readonly begins?: true
  /** Requests that this work also serves. */
  readonly links?: readonly string[]
  readonly attributes?: SpanAttributes
  /** Whether an error that the work throws is a failure. By default each is, except refusals: problems below 500. */
  readonly isFailure?: (error: unknown) => boolean
}

export interface Span {
  set(attributes: SpanAttributes): void
  fail(type: string): void
  /** To be stored with what this causes; undefined unless the trace is sampled. */
  readonly traceparent: string | undefined
  /** To be sent to other systems: also of a trace that is not sampled. */
  readonly headers: Readonly<Record<string, string>>
}

/** Follows a request through everything that it causes. */
export interface Tracing {
  span<T>(start: SpanStart, work: (span: Span) => Promise<T>): Promise<T>
  /** For work that several requests share: a span below each parent, and one of the whole, which links to them. */
  shared<T>(start: SpanStart, parents: readonly string[], work: () => Promise<T>): Promise<T>
}
