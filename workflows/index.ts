/** One file per process, and one for what recurs; the name of the export is the name of the workflow. */
export { agent } from './agent.ts'
export { card } from './card.ts'
export { cardRequest as 'card-request' } from './card-request.ts'
export { collect } from './collect.ts'
export { dispute } from './dispute.ts'
export { gdprDeletion as 'gdpr-deletion' } from './gdpr-deletion.ts'
export { gdprExport as 'gdpr-export' } from './gdpr-export.ts'
export { incident } from './incident.ts'
export { intent } from './intent.ts'
export { kyc } from './kyc.ts'
export { mandate } from './mandate.ts'
export { mpp } from './mpp.ts'
export { onboarding } from './onboarding.ts'
export { recovery } from './recovery.ts'
export {
  exchangeRates as 'exchange-rates',
  oldDeliveries as 'old-deliveries',
  returns,
  unusedFiles as 'unused-files',
} from './recurring.ts'
export { refund } from './refund.ts'
export { sepaFile as 'sepa-file' } from './sepa-file.ts'
export { statements } from './statements.ts'
export { transfer } from './transfer.ts'
export { webhook } from './webhook.ts'
