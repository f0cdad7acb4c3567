import { bodyOf, type TestClient } from '../factories.ts'
import type { TestService } from '../harness.ts'
import { setIdentities, submitted } from '../identity/company.ts'

interface Stage extends Pick<TestService, 'sql'> {
  readonly client: TestClient
  readonly dash: TestClient
  signal(workflowId: string, name: string, payload?: unknown): Promise<void>
  cancel(workflowId: string): Promise<void>
  shows(workflowId: string, text: string): Promise<void>
  ends(workflowId: string): Promise<void>
}

/** A company whose representatives have submitted nothing; another one of the owner is withdrawn before. */
async function waiting({ client, shows }: Stage) {
  const { data } = await bodyOf(client.onboarding.list())
  for (const { id, endedAt } of data)
    if (endedAt === null) await bodyOf(client.onboarding.withdraw({ params: { id } }))
  const { id, workflowId } = await submitted(client)
  await shows(workflowId, 'for the identity of each representative')
  return { params: { id }, workflowId }
}

async function inReview(stage: Stage) {
  const { params, workflowId } = await waiting(stage)
  await setIdentities(stage, params, 'verified')
  await stage.signal(workflowId, 'recordChanged')
  await stage.shows(workflowId, 'for the operator to decide')
  return { params, workflowId }
}

const QUESTIONS = { questions: ['Who owns the rest?'] }

export const onboardingStories: Readonly<Record<string, (stage: Stage) => Promise<string>>> = {
  'onboarding-withdrawn': async stage => {
    const { params, workflowId } = await waiting(stage)
    await bodyOf(stage.client.onboarding.withdraw({ params }))
    await stage.ends(workflowId)
    return workflowId
  },

  'onboarding-asked-and-approved': async stage => {
    const { params, workflowId } = await inReview(stage)
    await bodyOf(stage.dash.onboarding.requestInformation({ params, body: QUESTIONS }))
    await stage.shows(workflowId, 'for the company’s answer')
    await bodyOf(
      stage.client.onboarding.update({ params, body: { answer: 'Nobody with more than a tenth.' } }),
    )
    await stage.shows(workflowId, 'for the operator to decide')
    await bodyOf(stage.dash.onboarding.approve({ params }))
    await stage.ends(workflowId)
    return workflowId
  },

  'onboarding-signalled': async stage => {
    const { workflowId } = await waiting(stage)
    await stage.signal(workflowId, 'approve', { by: 'Ada' })
    await stage.shows(workflowId, 'by Ada changed nothing')
    await stage.signal(workflowId, 'reject', { by: 'Ada' })
    await stage.shows(workflowId, 'reason')
    await stage.signal(workflowId, 'requestInformation', { by: 'Ada', reason: 'Who owns the rest?' })
    await stage.shows(workflowId, 'for the company’s answer')
    await stage.cancel(workflowId)
    await stage.shows(workflowId, 'Request Cancellation changed nothing')
    await stage.signal(workflowId, 'reject', { by: 'Ada', reason: 'The register knows no such company' })
    await stage.ends(workflowId)
    return workflowId
  },

  'onboarding-approved-by-signal': async stage => {
    const { workflowId } = await inReview(stage)
    await stage.signal(workflowId, 'approve', { by: 'Ada' })
    await stage.ends(workflowId)
    return workflowId
  },

  'onboarding-expired': async stage => {
    const { params, workflowId } = await inReview(stage)
    await bodyOf(stage.dash.onboarding.requestInformation({ params, body: QUESTIONS }))
    await stage.shows(workflowId, 'for the company’s answer')
    await bodyOf(stage.client.sandbox.advance({ body: { days: 30 } }))
    await stage.ends(workflowId)
    return workflowId
  },

  'onboarding-waits': async stage => (await waiting(stage)).workflowId,
}
