import { CardAuthorization } from '../../cards/authorizations/index.ts'
import { findIntent } from '../../control/intents/index.ts'
import type { HandlerOf } from '../../kernel/contract/operation.ts'
import { isUnusable, parseReceipt } from '../../mpp/index.ts'
import { decimal } from '../../values/money.ts'
import type { mppApi } from './api.ts'
import { MppCredential } from './credential.ts'

/** The kind of statement: `typ` of the JWS. */
export const EVIDENCE_TYPE = 'payment-evidence'

const timeOf = (at: Date | null): string | null => at?.toISOString() ?? null

const credentialClaims = (credential: MppCredential) => ({
  id: credential.id,
  digest: `sha-256=${credential.credentialDigest}`,
  status: credential.status,
  outcomeBy: credential.outcomeBy,
  amountEuros: Number(decimal(credential.amountEuros)),
  network: credential.network,
  merchant: credential.merchant,
  agentCredentialId: credential.agentCredentialId,
  transactionId: credential.transactionId,
  askedAt: timeOf(credential.askedAt),
  mintedAt: timeOf(credential.createdAt),
  sentAt: timeOf(credential.sentAt),
  answeredAt: timeOf(credential.answeredAt),
  endedAt: timeOf(credential.endedAt),
})

const requestClaims = ({ method, url, requestDigest, merchantStatus }: MppCredential) => ({
  method,
  url,
  digest: requestDigest,
  answeredWith: merchantStatus,
})

/** The receipt as it came, and as it reads. */
function receiptClaims(header: string | null) {
  if (header === null) return null
  const parsed = parseReceipt(header)
  return { header, says: isUnusable(parsed) ? null : parsed }
}

/** Signs how a machine payment stands now: what was decided, for what, with which request, and what was answered. */
export const evidence: HandlerOf<typeof mppApi.evidence> = async (
  { params },
  { records, tenant, ports, refuse },
) => {
  const credential = await records.findOne(MppCredential, { id: params.id })
  if (!credential) return refuse('credential_not_found')
  const [intent, payment] = await Promise.all([
    findIntent(records, credential.intentId),
    records.findOne(CardAuthorization, { mppCredentialId: credential.id }),
  ])
  const jws = await ports.signer.sign(EVIDENCE_TYPE, {
    ownerId: tenant.ownerId,
    mode: tenant.mode,
    asOf: timeOf(credential.updatedAt),
    agentId: credential.agentId,
    cardId: credential.cardId,
    decision: payment?.decision ?? null,
    intent: intent && {
      id: intent.id,
      merchant: intent.merchant,
      purpose: intent.purpose,
      amountEuros: Number(decimal(intent.amountEuros)),
      decidedAt: timeOf(intent.decidedAt),
    },
    challenge: credential.challenge,
    request: requestClaims(credential),
    credential: credentialClaims(credential),
    receipt: receiptClaims(credential.receipt),
  })
  return { credentialId: credential.id, jws }
}
