import { area } from '../../kernel/contract/area.ts'
import { implement } from '../../kernel/contract/operation.ts'
import { MppCredential, mppCredentialMachine } from './credential.ts'
import { protect, rules, unprotect } from './protect.ts'
import { protectApi } from './protect-api.ts'
import { ProtectRule } from './protect-rule.ts'

const mpp = implement({ ...protectApi }, { protect, rules, unprotect })

export const mppArea = area(
  'MPP',
  'Paying merchants that ask for money by HTTP 402, once each, and only those that the owner lets be paid.',
  mpp,
  { entities: [MppCredential, ProtectRule], machines: [mppCredentialMachine] },
)
