import { area } from '../../kernel/contract/area.ts'
import { implement } from '../../kernel/contract/operation.ts'
import { definedOnly } from '../../kernel/database/entity.ts'
import { advance, status } from './advance.ts'
import { update, withdraw } from './answer.ts'
import { onboardingApi, onboardingSteps } from './api.ts'
import { Onboarding, OPEN, onboardingMachine, onboardingPersonal } from './company-onboarding.ts'
import { BeneficialOwner, identityMachine, Representative } from './company-people.ts'
import { approve, reject, requestInformation } from './decide.ts'
import { actForOwnerOf, onboardingResponse, pageOfAllOwners, submissionsOf } from './find.ts'
import { onboardingProcess } from './process.ts'
import { create } from './submit.ts'

const onboardings = implement(
  { ...onboardingApi, ...onboardingSteps },
  {
    create,
    update,
    withdraw,
    requestInformation,
    approve,
    reject,
    advance,
    status,

    async list({ query: { status: wanted, ownerId, mode } }, context) {
      const condition = definedOnly({ status: wanted, ownerId, mode })
      const { data, ...page } = await (context.actor.tenant
        ? context.page(Onboarding, condition)
        : pageOfAllOwners(condition, context))
      return { ...page, data: (await submissionsOf(data, context.sql)).map(onboardingResponse) }
    },

    async get({ params }, context) {
      const { records, sql, refuse } = context
      if (!(await actForOwnerOf(params.id, context))) return refuse('onboarding_not_found')
      const onboarding = await records.findOne(Onboarding, { id: params.id })
      const [submission] = await submissionsOf(onboarding ? [onboarding] : [], sql)
      return submission ? onboardingResponse(submission) : refuse('onboarding_not_found')
    },
  },
)

export const onboardingArea = area(
  'Onboarding',
  'Companies apply once to move real money, and the operator decides.',
  onboardings,
  {
    personal: onboardingPersonal,
    entities: [Onboarding, Representative, BeneficialOwner],
    machines: [onboardingMachine, identityMachine],
    deadlines: [
      {
        process: onboardingProcess,
        table: 'onboardings',
        open: OPEN,
        waits: 'true',
        operations: ['onboarding.advance'],
      },
    ],
    openRecords: [
      {
        process: onboardingProcess,
        select: `select id, owner_id, mode, null::text as agent_id from onboardings where ${OPEN}`,
      },
    ],
  },
)
