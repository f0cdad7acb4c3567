import { hash, randomBytes } from 'node:crypto'
import { p } from '@mikro-orm/core'
import { clock } from '../../values/clock.ts'
import type { OperationSettings } from '../contract/ports.ts'
import { nullable, realTimestampColumns, recordColumns } from './entity.ts'
import { plain, secret } from './personal.ts'

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const LENGTH = 43

/** A secret of 256 random bits behind a prefix that names its kind. A double click selects all of it. */
export function newSecret(prefix: string): string {
  let rest = BigInt(`0x${randomBytes(32).toString('hex')}`)
  let text = ''
  while (text.length < LENGTH) {
    text += DIGITS[Number(rest % 62n)]
    rest /= 62n
  }
  return prefix + text
}

/** A secret that programs send with each request: `sk_live_c2_…` if there are cells, so that a proxy finds the owner's. */
export const newBearerSecret = (prefix: string, { cell }: Pick<OperationSettings, 'cell'>): string =>
  newSecret(cell ? `${prefix}${cell}_` : prefix)

const CREDENTIAL = /(sk|at|mer|dlg|dvc|cst|lnk|(?<![a-z])(?:con|pt|oac|ort|sso|sss))_\w{24}|whsec_[\w+/]{24}/

/** Such a text must not be logged or echoed. */
export const containsCredential = (text: string): boolean => CREDENTIAL.test(text)

/** Unsalted, so that a credential can be found by its hash: 256 random bits are in no dictionary. */
export const hashSecret = (secret: string): string => hash('sha256', secret)

/** The stored traces of a secret: the hash finds it, the last four characters let people tell it apart. */
export const hashAndHint = (secret: string) => ({ hash: hashSecret(secret), hint: secret.slice(-4) })

/** The members of a credential's entity. Its instants are in real time: a moved test clock expires none. */
export const credentialColumns = (prefix: string) => ({
  ...recordColumns(prefix),
  ...realTimestampColumns(),
  hash: secret(p.text()),
  hint: plain(p.text()),
  expiresAt: nullable.instant(),
  lastUsedAt: nullable.instant(),
  revokedAt: nullable.instant(),
})

interface Validity {
  readonly expiresAt: Date | null
  readonly revokedAt: Date | null
}

export const isCredentialValid = ({ expiresAt, revokedAt }: Validity): boolean =>
  !revokedAt && (!expiresAt || expiresAt > clock.real())
