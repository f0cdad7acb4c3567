import { setTimeout as pause } from 'node:timers/promises'
import { ClientGone, Problem } from '../contract/problem.ts'

const ATTEMPTS = 5
const DEADLOCK = '40P01'
const SERIALIZATION = '40001'
const STATEMENT_TIMEOUT = '57014'
const UNIQUE = '23505'
const FOREIGN_KEY = '23503'
export const LOCK_TIMEOUT_SQLSTATE = '55P03'

interface DatabaseError {
  code?: string
  message?: string
  cause?: unknown
  detail?: string
}

export const sqlStateOf = (error: unknown): string =>
  (error as DatabaseError)?.code ?? (error as { cause?: DatabaseError })?.cause?.code ?? ''

export function isConnectionLost(error: unknown): boolean {
  return LOST.codes.test(sqlStateOf(error)) || LOST.messages.test(String((error as Error)?.message))
}

const LOST = {
  codes: /^(08|25P03|53|57P0|58|ECONN|EPIPE|ETIMEDOUT|EHOST|ENET|EAI_|ENOTFOUND|ENOENT)/,
  messages:
    /Connection terminated|timeout e(xpired|xceeded when trying to connect)|Query read timeout|Client has encountered a connection error|Client was closed/,
}

/**
 * Includes unique violations of concurrent requests: the retry sees the other request's record and answers
 * properly.
 */
const isTransient = (error: unknown): boolean => [DEADLOCK, SERIALIZATION, UNIQUE].includes(sqlStateOf(error))

export const isSerializationFailure = (error: unknown): boolean => sqlStateOf(error) === SERIALIZATION

export const isRefusedByConstraint = (error: unknown): boolean => sqlStateOf(error).startsWith('23')

/** A client that waits longer stays away when PostgreSQL is back. Refusing it once more costs a millisecond. */
const AGAIN_AFTER_SECONDS = '1'

export function databaseErrorAsProblem(error: unknown): unknown {
  if (error instanceof Problem) return error
  if (isConnectionLost(error))
    return new Problem('unavailable', undefined, { 'Retry-After': AGAIN_AFTER_SECONDS })
  if ([DEADLOCK, SERIALIZATION, LOCK_TIMEOUT_SQLSTATE, STATEMENT_TIMEOUT].includes(sqlStateOf(error)))
    return new Problem('busy', undefined, { 'Retry-After': AGAIN_AFTER_SECONDS })
  if (sqlStateOf(error) === FOREIGN_KEY) return new Problem('unknown_reference', referenceIn(error))
  return error
}

/**
 * The answer to an error: 503 for a lost database, at any point of a call. Any other error that is not a Problem is a
 * defect, which is reported, and the caller gets a plain 500.
 */
export function problemOf(error: unknown, report: (error: unknown) => void): Problem {
  const problem = databaseErrorAsProblem(error)
  if (problem instanceof Problem) return problem
  // No one reads the answer, and nothing has failed.
  if (error instanceof ClientGone) return new Problem('unavailable')
  report(error)
  return new Problem('internal')
}

/** `agents_policy_id_fkey` on `(owner_id, mode, policy_id)` becomes `policyId: no such record.` */
function referenceIn(error: unknown): string {
  const text = `${(error as DatabaseError).detail ?? ''} ${(error as Error).message}`
  const column = /(\w+)\)=\(/.exec(text)?.[1]
  const member = column?.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase())
  return member ? `${member}: no such record.` : 'The request names a record that does not exist.'
}

export async function withDatabaseRetries<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work()
    } catch (error) {
      if (attempt === ATTEMPTS || !isTransient(error)) throw databaseErrorAsProblem(error)
      await pause(Math.random() * 10 * 2 ** attempt)
    }
  }
}
