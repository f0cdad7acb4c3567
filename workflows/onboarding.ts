import type { OnboardingActivities } from '../activities/onboardings.ts'
import { onboardingProcess } from '../src/identity/onboarding/process.ts'
import type { ProcessInput } from '../src/kernel/contract/process.ts'
import { activities, decision, reading } from './shared/activities.ts'
import { follow } from './shared/record-run.ts'

const { readOnboarding, answerOnboarding, advanceOnboarding } = activities<OnboardingActivities>({
  readOnboarding: reading('Status of the onboarding'),
  answerOnboarding: decision('Carry out the decision of an operator'),
  advanceOnboarding: decision('Begin the review, or end what was not answered in time'),
})

/** A company is reviewed once its persons are verified. Questions are answered in time, or it expires. */
export async function onboarding(ref: ProcessInput): Promise<string> {
  const record = await follow(ref, {
    process: onboardingProcess,
    read: readOnboarding,
    decide: answerOnboarding,
    signals: {
      approve: 'Approves the onboarding if each representative is verified.',
      reject: 'Rejects the onboarding. The reason is shown to the company.',
      requestInformation: 'Asks the company for the information in the reason.',
    },
  })
  while (!record.isOver) {
    const { status, deadline } = record.state
    if (status === 'submitted')
      await record.waitFor('the identity of each representative to be sent', { whenDue: advanceOnboarding })
    else if (status === 'in_review') await record.waitFor('the operator to decide')
    else await record.waitFor(`the company’s answer, until ${deadline}`, { whenDue: advanceOnboarding })
  }
  return record.state.status
}
