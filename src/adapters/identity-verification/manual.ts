import type { IdentityVerification } from '../../ports/identity-verification.ts'

export const manualIdentity = (): IdentityVerification => ({
  name: 'manual',
  decider: 'operator',
  takesDocuments: true,
  page: null,
  redact: null,
  submit: async () => ({ status: 'in_review' }),
  inquire: async () => ({ status: 'in_review' }),
  recognizes: () => false,
  read: () => ({ kind: 'unsigned', reason: 'No provider is configured that could have signed it.' }),
})
