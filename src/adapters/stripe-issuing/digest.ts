import { createHash } from 'node:crypto'

/** Tells requests apart that would otherwise have the same idempotency key. */
export const digestOf = (value: unknown): string =>
  createHash('sha256')
    .update(JSON.stringify(value, (_, member) => (typeof member === 'bigint' ? String(member) : member)))
    .digest('hex')
    .slice(0, 16)
