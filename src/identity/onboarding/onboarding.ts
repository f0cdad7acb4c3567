import { area } from '../../kernel/contract/area.ts'
import { bindHandlers } from '../../kernel/contract/operation.ts'
import { definedOnly } from '../../kernel/database/entity.ts'
import { answerOnboardingQuestions, withdrawOnboarding } from './answer.ts'
import { onboardingApi, onboardingSteps } from './api.ts'
import { Onboarding, OPEN_ONBOARDING_SQL, onboardingMachine } from './company-onboarding.ts'
import { BeneficialOwner, Representative, representativeIdentityMachine } from './company-people.ts'
import { approveOnboarding, rejectOnboarding, requestOnboardingInformation } from './decide.ts'
import {
  actForOnboardingOwner,
  loadOnboardingPeople,
  onboardingPageOfAllOwners,
  onboardingResponse,
} from './find.ts'
import { onboardingProcess } from './process.ts'
import { submitOnboarding } from './submit.ts'

const onboardings = bindHandlers(onboardingApi, {
  create: submitOnboarding,
  update: answerOnboardingQuestions,
  withdraw: withdrawOnboarding,
  requestInformation: requestOnboardingInformation,
  approve: approveOnboarding,
  reject: rejectOnboarding,

  async list({ query: { status: wanted, ownerId, mode } }, context) {
    const condition = definedOnly({ status: wanted, ownerId, mode })
    const { data, ...page } = await (context.actor.tenant
      ? context.page(Onboarding, condition)
      : onboardingPageOfAllOwners(condition, context))
    return { ...page, data: (await loadOnboardingPeople(data, context.sql)).map(onboardingResponse) }
  },

  async get({ params }, context) {
    const { em, sql, refuse } = context
    if (!(await actForOnboardingOwner(params.id, context))) return refuse('onboarding_not_found')
    const onboarding = await em.findOne(Onboarding, { id: params.id })
    const [submission] = await loadOnboardingPeople(onboarding ? [onboarding] : [], sql)
    return submission ? onboardingResponse(submission) : refuse('onboarding_not_found')
  },
})

export const onboardingArea = area(
  'Onboarding',
  'Companies apply once to move real money, and the operator decides.',
  onboardings,
  {
    steps: onboardingSteps,
    entities: [Onboarding, Representative, BeneficialOwner],
    machines: [onboardingMachine, representativeIdentityMachine],
    deadlines: [
      {
        process: onboardingProcess,
        table: 'onboardings',
        open: OPEN_ONBOARDING_SQL,
        waits: 'true',
        activities: ['advanceOnboarding'],
      },
    ],
    openRecords: [
      {
        process: onboardingProcess,
        select: `select id, owner_id, mode, null::text as agent_id from onboardings where ${OPEN_ONBOARDING_SQL}`,
      },
    ],
  },
)
