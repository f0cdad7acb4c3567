import type { Tenant } from '../../kernel/contract/actor.ts'
import type { WriteContext } from '../../kernel/contract/context.ts'
import { externalCall, type HandlerOf } from '../../kernel/contract/operation.ts'
import { FOR_UPDATE } from '../../kernel/database/entity.ts'
import { referenceStoredFile, releaseStoredFiles } from '../../kernel/database/stored-files.ts'
import { lockTenant } from '../../kernel/database/tenant-lock.ts'
import { DamagedFileError, type FileStore } from '../../ports/files.ts'
import { addMs } from '../../values/clock.ts'
import { kycApi, type kycSteps } from './api.ts'
import { DOCUMENT_RETENTION_MS, KycDocument, kycDocumentFileName, MAX_UNUSED_DOCUMENTS } from './document.ts'
import { actForDocumentOwner } from './submissions.ts'

const documentEvent = ({ id, submissionId, kind }: KycDocument) => ({ documentId: id, submissionId, kind })

export const uploadKycDocument: HandlerOf<typeof kycApi.upload> = async (
  { body: { kind, file } },
  context,
) => {
  const { em, now, emit, refuse } = context
  await lockTenant(context, 'kyc')
  const unused = await em.count(KycDocument, { submissionId: null, erasedAt: null })
  if (unused >= MAX_UNUSED_DOCUMENTS) return refuse('too_many_documents')
  const { kind: type, size, sha256 } = file
  const eraseAt = addMs(now, DOCUMENT_RETENTION_MS.unused)
  const document = em.create(KycDocument, { kind, type, bytes: size, sha256, eraseAt })
  await referenceStoredFile(file, document.id, context)
  emit('kyc.document_uploaded', documentEvent(document))
  return document
}

export async function readDocumentContent(
  files: FileStore,
  tenant: Tenant,
  sha256: string,
): Promise<Uint8Array | undefined> {
  const opened = await files.open(tenant, sha256)
  if (!opened) return undefined
  const pieces: Uint8Array[] = []
  try {
    for await (const piece of opened.content) pieces.push(piece)
  } catch (error) {
    if (error instanceof DamagedFileError) return undefined
    throw error
  }
  return Buffer.concat(pieces)
}

/** Commits the event before the first byte is sent. */
export const readKycDocument = externalCall(kycApi.readDocument, {
  async reserve({ params: { id } }, context) {
    if (!(await actForDocumentOwner(id, context))) return context.refuse('document_not_found')
    const { em, refuse, tenant, now } = context
    const document = await em.findOne(KycDocument, { id })
    if (!document) return refuse('document_not_found')
    return document.erasedAt ? refuse('document_erased') : { id, tenant, now, sha256: document.sha256 }
  },
  call: async ({ tenant, sha256 }, { systems }) =>
    (await readDocumentContent(systems.files, tenant, sha256)) ?? null,
  async record(content, { id, tenant, now }, { em, emit, refuse, switchTenant }) {
    switchTenant(tenant, now)
    const document = await em.findOneOrFail(KycDocument, { id })
    if (document.erasedAt) return refuse('document_erased')
    if (!content) return refuse('document_damaged')
    emit('kyc.document_read', documentEvent(document))
    return { type: document.type, content, name: kycDocumentFileName(document) }
  },
  recover: async (_, { refuse }) => refuse('document_damaged'),
})

/** Erases an expired document, by the tenant's clock. */
export async function eraseKycDocument(
  id: string,
  context: WriteContext<(typeof kycSteps.eraseDocument)['emits']>,
): Promise<void> {
  const { em, now, emit } = context
  const document = await em.findOne(KycDocument, { id }, FOR_UPDATE)
  if (!document?.eraseAt || document.eraseAt > now) return
  await releaseStoredFiles([document.sha256], document.id, context)
  Object.assign(document, { eraseAt: null, erasedAt: now })
  emit('kyc.document_erased', documentEvent(document))
}
