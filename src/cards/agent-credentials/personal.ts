import type { Personal } from '../../values/personal.ts'

export const agentCredentialsPersonal = {
  agent_credentials: {
    personal: {
      merchant_scope: { kind: 'payment', ground: 'contract', forget: { value: '{[forgotten]}' } },
      last4: { kind: 'account', ground: 'payments', forget: { value: '0000' } },
    },
    plain: ['processor', 'processor_problem', 'key_thumbprint', 'mpp_credential_id'],
    secret: ['token_id'],
  },
} as const satisfies Personal
