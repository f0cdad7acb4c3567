import type { z } from 'zod'
import type { AnyOperation } from '../../../src/kernel/contract/operation.ts'

/** Endpoints of OAuth ignore parameters that they do not know (RFC 6749, 3.1 and 3.2; RFC 7591, 2). */
export const IGNORING_UNKNOWN: ReadonlySet<string> = new Set([
  'consolePages.authorize',
  'consolePages.ssoCallback',
  'oauth.register',
  'oauth.revoke',
  'oauth.token',
])

export const hasQuery = ({ query }: Pick<AnyOperation, 'query'>): boolean =>
  Object.keys((query as z.ZodObject | undefined)?.shape ?? {}).length > 0
