import { createHash } from 'node:crypto'
import { canonicalJson } from '../values/canonical-json.ts'
import { commitmentTo, type Openings, opened, withPersonal } from './commitments.ts'
import { sentences } from './sentences.ts'
import type { Kind, Subjects } from './subjects.ts'

/** What a person signs. Personal members of its subject are commitments. */
export interface Statement<K extends Kind = Kind> {
  readonly version: 1
  readonly kind: K
  readonly origin: string
  readonly mode: 'test' | 'live'
  readonly subject: Readonly<Record<string, unknown>>
  readonly nonce: string
  /** Until when it can be signed: ISO 8601. */
  readonly expiresAt: string
}

/** The members that name a person, an account or an address; `*` stands for any index. */
const personal: Readonly<Record<Kind, readonly string[]>> = {
  intent: ['payee.name', 'payee.iban', 'person'],
  payment: ['payees.*.name', 'payees.*.iban'],
  mandate: [],
  revocation: ['name'],
  enrolment: ['name'],
  invitation: ['name', 'email'],
  key: [],
  deletion: [],
  device: ['deviceName'],
  pairing: ['deviceName'],
  registration: [],
  sign_in: [],
}

interface Circumstances {
  readonly origin: string
  readonly mode: 'test' | 'live'
  readonly nonce: string
  readonly expiresAt: string
  /** Gives a new salt at each call, always of the same length. */
  readonly salt: () => string
}

/** Makes a statement, and apart from it what opens its commitments. */
export function newStatement<K extends Kind>(
  kind: K,
  subject: Subjects[K],
  { origin, mode, nonce, expiresAt, salt }: Circumstances,
): { statement: Statement<K>; openings: Openings } {
  const openings: Record<string, { value: string; salt: string }> = {}
  const committed = withPersonal(subject, personal[kind], (value, place) => {
    const opening = { value, salt: salt() }
    openings[place] = opening
    return commitmentTo(value, opening.salt)
  }) as Statement['subject']
  return {
    statement: { version: 1, kind, origin, mode, subject: committed, nonce, expiresAt },
    openings,
  }
}

/** The challenge that a device signs: the digest of the statement's canonical JSON (RFC 8785), in base64url. */
export const challengeOf = (statement: Statement): string =>
  createHash('sha256').update(canonicalJson(statement)).digest('base64url')

/** Whether the statement says exactly this. */
export function agrees<K extends Kind>(
  statement: Statement,
  openings: Openings,
  { kind, members }: { readonly kind: K; readonly members: Subjects[K] },
): boolean {
  if (statement.kind !== kind) return false
  // A value where none was stated is committed to with no salt, and so equals nothing that was.
  const expected = withPersonal(members, personal[kind], (value, place) =>
    commitmentTo(value, openings[place]?.salt ?? ''),
  )
  return canonicalJson(expected) === canonicalJson(statement.subject)
}

/** The sentence that the person reads. */
export const sentenceOf = ({ kind, subject }: Statement, openings: Openings): string =>
  (sentences[kind] as (subject: unknown) => string)(opened(subject, openings))
