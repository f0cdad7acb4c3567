import { defineEntity, p } from '@mikro-orm/core'
import { nullable, recordColumns, tenantTable } from '../../kernel/database/entity.ts'
import { personal, personalTable, plain } from '../../kernel/database/personal.ts'
import { type IdentityDocumentKind, identityDocumentKinds } from '../../ports/identity-verification.ts'
import { days } from '../../values/clock.ts'
import { FILE_KINDS, type FileKind, fileExtensionOf } from '../../values/file-kind.ts'
import { SANDBOX_PROVIDER } from './submission.ts'

export const DOCUMENT_RETENTION_MS = {
  unused: days(1),
  rejected: days(30),
  verified: days(5 * 365 + 1),
} as const

/**
 * SQL condition: the document will be erased. A person's evidence is kept for at least this long in real
 * time, independent of the owner's test clock.
 */
export const DOCUMENT_ERASURE_SQL = `erase_at is not null and (erase_at <= now() or coalesce((
  select provider from (select owner_id as o, mode as m, id as i, provider from kyc_submissions) s
  where (o, m, i) = (owner_id, mode, submission_id)), '${SANDBOX_PROVIDER}') = '${SANDBOX_PROVIDER}')`

export const KYC_DOCUMENT_TYPES = [
  'application/pdf',
  'image/jpeg',
  'image/png',
] as const satisfies readonly FileKind[]

export const MAX_UNUSED_DOCUMENTS = 50

const schema = defineEntity({
  ...tenantTable('KycDocument', 'kyc_documents'),
  ...personalTable({ files: ['sha256'] }),
  properties: {
    ...recordColumns('kycdocument'),
    submissionId: plain(nullable.string()),
    kind: plain(p.enum(identityDocumentKinds)),
    type: plain(p.enum(FILE_KINDS)),
    bytes: p.integer(),
    sha256: personal(p.text(), 'identity', 'moneyLaundering', 'digest'),
    /** Null while the submission is open, and once erased. */
    eraseAt: nullable.instant(),
    erasedAt: nullable.instant(),
  },
})

/** A person's document. Its encrypted file is outside of the database until it is erased. */
export class KycDocument extends schema.class {}
schema.setClass(KycDocument)

export const kycDocumentFileName = ({ id, type }: KycDocument): string => `${id}.${fileExtensionOf[type]}`

export function missingDocumentKind(kinds: readonly IdentityDocumentKind[]): string | undefined {
  const has = (kind: IdentityDocumentKind) => kinds.includes(kind)
  if (has('passport') || (has('identity_card_front') && has('identity_card_back'))) return undefined
  if (has('identity_card_front')) return 'the back of the identity card is missing.'
  if (has('identity_card_back')) return 'the front of the identity card is missing.'
  return 'a passport is missing, or both sides of an identity card.'
}
