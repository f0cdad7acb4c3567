import type { Target } from './urls.ts'

/** The listener of this process: the origin that a connection is made to, and those that its URLs may have. */
export interface OwnListener {
  readonly origin: string
  readonly origins: readonly string[]
  /** Says that a request is our own, so that it is not counted against the limit of an address which all owners share. */
  readonly pass: string
}

export const PASS_HEADER = 'x-own-request'

/** A merchant of the sandbox, and a payment request that a program pays. */
const PATHS = /^\/(simulate\/mpp|collect\/402)(\/[\w-][\w.-]*)+$/

/**
 * Where a URL of our own listener leads. It must be written as a program writes it: a URL that a parser has to mend first
 * is judged like that of anybody.
 */
export function ownTarget(text: string, listener: OwnListener | undefined): Target | undefined {
  const url = URL.parse(text)
  if (!url || !listener?.origins.includes(url.origin) || !PATHS.test(url.pathname)) return undefined
  const path = url.pathname + url.search
  const headers = { host: url.host, [PASS_HEADER]: listener.pass }
  return text === url.origin + path ? { origin: listener.origin, path, headers } : undefined
}
