import { area } from '../../kernel/contract/area.ts'
import type { Context } from '../../kernel/contract/context.ts'
import { bindHandlers } from '../../kernel/contract/operation.ts'
import { createdWithinCondition } from '../../kernel/database/created-within.ts'
import { definedOnly, FOR_UPDATE } from '../../kernel/database/entity.ts'
import { merchantApplicationsApi } from './api.ts'
import { livePlatformTenant, MerchantApplication, merchantApplicationMachine } from './application.ts'
import { merchantApplicationEvent } from './schemas.ts'

function lockApplication(id: string, { em, switchTenant }: Context) {
  switchTenant(livePlatformTenant)
  return em.findOne(MerchantApplication, { id }, FOR_UPDATE)
}

const merchantApplications = bindHandlers(merchantApplicationsApi, {
  create({ body }, { em, switchTenant, emit }) {
    switchTenant(livePlatformTenant)
    const application = em.create(MerchantApplication, body)
    emit('merchant_application.submitted', merchantApplicationEvent(application))
    return application
  },

  async list({ query: { status, from, to } }, context) {
    context.switchTenant(livePlatformTenant)
    const created = await createdWithinCondition('merchant', { from, to }, context)
    return context.page(MerchantApplication, definedOnly({ status, ...created }))
  },

  async get({ params }, { em, switchTenant, refuse }) {
    switchTenant(livePlatformTenant)
    const application = await em.findOne(MerchantApplication, { id: params.id })
    return application ?? refuse('application_not_found')
  },

  async approve({ params }, context) {
    const { now, emit, refuse } = context
    const application = await lockApplication(params.id, context)
    if (!application) return refuse('application_not_found')
    if (!merchantApplicationMachine.move(application, 'approved')) return refuse('application_decided')
    application.decidedAt = now
    emit('merchant_application.approved', merchantApplicationEvent(application))
    return application
  },

  async reject({ params, body: { reason } }, context) {
    const { now, emit, refuse } = context
    const application = await lockApplication(params.id, context)
    if (!application) return refuse('application_not_found')
    if (!merchantApplicationMachine.move(application, 'rejected')) return refuse('application_decided')
    Object.assign(application, { reason, decidedAt: now })
    emit('merchant_application.rejected', merchantApplicationEvent(application))
    return application
  },

  async revoke({ params, body: { reason } }, context) {
    const { now, emit, refuse } = context
    const application = await lockApplication(params.id, context)
    if (!application) return refuse('application_not_found')
    if (!merchantApplicationMachine.move(application, 'revoked')) return refuse('application_not_approved')
    Object.assign(application, { reason, revokedAt: now })
    emit('merchant_application.revoked', merchantApplicationEvent(application))
    return application
  },
})

export const merchantApplicationsArea = area(
  'Merchant Applications',
  'Applications of merchants, and the decisions about them.',
  merchantApplications,
  {
    entities: [MerchantApplication],
    machines: [merchantApplicationMachine],
  },
)
