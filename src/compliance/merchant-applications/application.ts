import { defineEntity, p } from '@mikro-orm/core'
import { PLATFORM_OWNER_ID } from '../../identity/customers/index.ts'
import type { Tenant } from '../../kernel/contract/actor.ts'
import { stateMachine } from '../../kernel/contract/machine.ts'
import { nullable, recordColumns, tenantTable } from '../../kernel/database/entity.ts'
import type { PersonalData } from '../../values/personal.ts'

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
  properties: {
    ...recordColumns('merchant'),
    status: p.enum(merchantApplicationMachine.states).onCreate(() => merchantApplicationMachine.initial),
    name: p.text(),
    legalName: p.text(),
    country: p.text(),
    website: p.text(),
    mcc: nullable.string(),
    contactName: p.text(),
    contactEmail: p.text(),
    reason: nullable.string(),
    decidedAt: nullable.instant(),
    revokedAt: nullable.instant(),
  },
})

export class MerchantApplication extends application.class {}
application.setClass(MerchantApplication)

export const merchantApplicationsPersonalData = {
  merchant_applications: {
    personal: {
      name: { kind: 'name', ground: 'contract', forget: 'word' },
      legal_name: { kind: 'name', ground: 'contract', forget: 'word' },
      website: { kind: 'contact', ground: 'contract', forget: 'word' },
      contact_name: { kind: 'name', ground: 'contract', forget: 'word' },
      contact_email: { kind: 'contact', ground: 'contract', forget: 'word' },
      reason: { kind: 'words', ground: 'contract', forget: 'word' },
    },
    plain: ['country', 'mcc'],
    about: { merchant: ['id'] },
  },
} as const satisfies PersonalData
