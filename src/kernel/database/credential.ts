import { hash, randomBytes } from 'node:crypto'
import { p } from '@mikro-orm/core'
import { clock } from '../../values/clock.ts'
import { maybe, record, timestamp } from './entity.ts'

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
/** As many letters and digits as 32 bytes can need. */
const LENGTH = 43

/** 256 random bits behind a prefix that says what they open; a double click selects all of it. */
export function newSecret(prefix: string): string {
  let rest = BigInt(`0x${randomBytes(32).toString('hex')}`)
  let text = ''
  while (text.length < LENGTH) {
    text += DIGITS[Number(rest % 62n)]
    rest /= 62n
  }
  return prefix + text
}

const CREDENTIAL = /(sk|at|mer|dlg|whsec)_\w{24}/

/** Whether a credential of ours stands anywhere in a text: such a text is repeated nowhere. */
export const hasCredential = (text: string): boolean => CREDENTIAL.test(text)

/** Unsalted: a secret of 256 random bits is in no dictionary, and is found by it. */
export const hashOf = (secret: string): string => hash('sha256', secret)

/** All that is kept of a secret: enough to know it again, and to tell it from others. */
export const traceOf = (secret: string) => ({ hash: hashOf(secret), hint: secret.slice(-4) })

const realTime = () => timestamp().onCreate(() => clock.real())

/** The members of what is opened by a secret. They are in real time: a test clock that moves closes nothing. */
export const credential = (prefix: string) => ({
  ...record(prefix),
  createdAt: realTime(),
  updatedAt: realTime().onUpdate(() => clock.real()),
  hash: p.text(),
  hint: p.text(),
  expiresAt: maybe.instant(),
  lastUsedAt: maybe.instant(),
  revokedAt: maybe.instant(),
})

interface Opening {
  readonly expiresAt: Date | null
  readonly revokedAt: Date | null
}

/** Whether it still opens anything. */
export const isOpen = ({ expiresAt, revokedAt }: Opening): boolean =>
  !revokedAt && (!expiresAt || expiresAt > clock.real())
