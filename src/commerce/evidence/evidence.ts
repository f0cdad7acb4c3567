import { findIntent } from '../../control/intents/index.ts'
import { area } from '../../kernel/contract/area.ts'
import { downloadResponse } from '../../kernel/contract/file.ts'
import { bindHandlers, type HandlerOf } from '../../kernel/contract/operation.ts'
import type { UploadedFile } from '../../kernel/contract/upload.ts'
import { createdWithinCondition } from '../../kernel/database/created-within.ts'
import { definedOnly, mayUseRecord } from '../../kernel/database/entity.ts'
import { getRecord } from '../../kernel/database/get-record.ts'
import { referenceFilesWithinQuota } from '../../kernel/database/stored-files.ts'
import { lockTenant } from '../../kernel/database/tenant-lock.ts'
import { evidenceApi } from './api.ts'
import {
  Evidence,
  evidenceContent,
  evidenceFileName,
  MAX_EVIDENCE_PER_INTENT,
  textEvidence,
} from './evidence-item.ts'

const ofFile = ({ name, kind, size, sha256, view }: UploadedFile) => ({
  text: null,
  fileName: name,
  mediaType: kind,
  bytes: size,
  sha256,
  viewSha256: view?.large.sha256 ?? null,
})

const create: HandlerOf<typeof evidenceApi.create> = async ({ body }, context) => {
  const { em, actor, emit, refuse } = context
  const { intentId, type, note, text, file } = body
  await lockTenant(context, `evidence|${intentId}`)
  const [intent, count] = await Promise.all([findIntent(em, intentId), em.count(Evidence, { intentId })])
  if (!intent) return refuse('intent_not_found')
  if (!mayUseRecord(actor, intent)) return refuse('intent_other_token')
  if (count >= MAX_EVIDENCE_PER_INTENT) return refuse('too_much_evidence')
  const { agentId } = intent
  const delegationId = actor.delegationId ?? intent.delegationId
  const content = file ? ofFile(file) : textEvidence(text ?? '')
  const piece = em.create(Evidence, { agentId, delegationId, intentId, type, note, ...content })
  const { id: evidenceId, sha256, receivedAt } = piece
  emit('evidence.added', { evidenceId, agentId, intentId, type, sha256, receivedAt })
  if (file?.view) await referenceFilesWithinQuota([file, file.view.large], piece.id, context)
  return piece
}

const evidence = bindHandlers(evidenceApi, {
  create,

  async list({ query: { intentId, agentId, type, from, to } }, context) {
    const created = await createdWithinCondition('evidence', { from, to }, context)
    return context.page(Evidence, definedOnly({ intentId, agentId, type, ...created }))
  },

  get: getRecord(Evidence, 'evidence_not_found'),

  async file({ params }, context) {
    const piece = await context.em.findOne(Evidence, { id: params.id })
    if (!piece) return context.refuse('evidence_not_found')
    const content = await evidenceContent(piece, context)
    if (typeof content === 'string') return context.refuse(content)
    const { mediaType } = piece
    const type = mediaType === 'text/plain' ? 'text/plain; charset=utf-8' : mediaType
    return downloadResponse(type, content, evidenceFileName(piece))
  },
})

export const evidenceArea = area(
  'Evidence',
  'Proof of payments: screenshots, invoices and confirmations, stored as uploaded and never changed.',
  evidence,
  { entities: [Evidence] },
)
