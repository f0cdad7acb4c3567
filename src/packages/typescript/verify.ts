export {
  type ApprovalProof,
  ApprovalRejected,
  type ProvenApproval,
  verifyApproval,
} from '../../derive/verify-approval.ts'
export {
  type AuditGrowth,
  type AuditProof,
  AuditRejected,
  type VerifiedAudit,
  type VerifyAuditOptions,
  verifyAudit,
  verifyAuditGrowth,
  verifyAuditProof,
} from '../../derive/verify-audit.ts'
export { SignatureRejected, UnknownSigningKey, verifySigned } from '../../derive/verify-signed.ts'
export { verifyWebhook, type WebhookMessage, WebhookRejected } from '../../derive/verify-webhook.ts'
