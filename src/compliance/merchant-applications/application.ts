import { defineEntity, p } from '@mikro-orm/core'
import { PLATFORM_OWNER_ID } from '../../identity/customers/index.ts'
import type { Tenant } from '../../kernel/contract/actor.ts'
import { stateMachine } from '../../kernel/contract/machine.ts'
import { nullable, recordColumns, tenantTable } from '../../kernel/database/entity.ts'
import { personal, personalTable, plain } from '../../kernel/database/personal.ts'

/** Merchants belong to the platform. */
export const livePlatformTenant: Tenant = { ownerId: PLATFORM_OWNER_ID, mode: 'live' }

export const merchantApplicationMachine = stateMachine('merchant_application', {
  submitted: ['approved', 'rejected'],
  approved: ['revoked'],
  rejected: [],
  revoked: [],
})

const application = defineEntity({
  ...tenantTable('MerchantApplication', 'merchant_applications'),
  ...personalTable({ about: { merchant: ['id'] } }),
  properties: {
    ...recordColumns('merchant'),
    status: p.enum(merchantApplicationMachine.states).onCreate(() => merchantApplicationMachine.initial),
    name: personal(p.text(), 'name', 'contract', 'word'),
    legalName: personal(p.text(), 'name', 'contract', 'word'),
    country: plain(p.text()),
    website: personal(p.text(), 'contact', 'contract', 'word'),
    mcc: plain(nullable.string()),
    contactName: personal(p.text(), 'name', 'contract', 'word'),
    contactEmail: personal(p.text(), 'contact', 'contract', 'word'),
    reason: personal(nullable.string(), 'words', 'contract', 'word'),
    decidedAt: nullable.instant(),
    revokedAt: nullable.instant(),
  },
})

export class MerchantApplication extends application.class {}
application.setClass(MerchantApplication)
