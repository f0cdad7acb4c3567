import { bodyOf, type TestClient } from '../factories.ts'
import { COMPANY } from '../identity/company.ts'
import { aSubmission } from '../identity/kyc.ts'

interface Stage {
  readonly client: TestClient
  readonly dash: TestClient
  signal(workflowId: string, name: string, payload?: unknown): Promise<void>
  shows(workflowId: string, text: string): Promise<void>
  ends(workflowId: string): Promise<void>
}

/** A representative has submitted an identity under this name; another company of the owner is withdrawn before. */
export async function submittedIdentity({ client }: Pick<Stage, 'client'>, name: string) {
  const { data } = await bodyOf(client.onboarding.list())
  for (const { id, endedAt } of data)
    if (endedAt === null) await bodyOf(client.onboarding.withdraw({ params: { id } }))
  const dateOfBirth = '1985-12-10'
  const body = { ...COMPANY, representatives: [{ name, dateOfBirth, country: 'DE' }] }
  const { representatives } = await bodyOf(client.onboarding.create({ body }))
  const representativeId = String(representatives[0]?.id)
  const { id, workflowId } = await aSubmission(client, name, { representativeId, dateOfBirth })
  return { params: { id }, workflowId }
}

export const kycStories: Readonly<Record<string, (stage: Stage) => Promise<string>>> = {
  'kyc-verified': async stage => {
    const { workflowId } = await submittedIdentity(stage, 'Ada Lovelace')
    await stage.ends(workflowId)
    return workflowId
  },

  'kyc-silent-and-verified': async stage => {
    const { workflowId } = await submittedIdentity(stage, 'Silent Ada')
    await stage.shows(workflowId, 'for the provider to answer')
    await bodyOf(stage.client.sandbox.advance({ body: { minutes: 125 } }))
    await stage.ends(workflowId)
    return workflowId
  },

  'kyc-later-rejected': async stage => {
    const { workflowId } = await submittedIdentity(stage, 'Later rejected Ada')
    await stage.shows(workflowId, 'for the provider to decide')
    await bodyOf(stage.client.sandbox.advance({ body: { days: 1 } }))
    await stage.ends(workflowId)
    return workflowId
  },

  'kyc-answered': async stage => {
    const { params, workflowId } = await submittedIdentity(stage, 'Absent Ada')
    await stage.shows(workflowId, 'for the provider to answer')
    await stage.signal(workflowId, 'approve', { by: 'Ada' })
    await stage.shows(workflowId, 'no such signal is known')
    await bodyOf(stage.dash.kyc.approve({ params }))
    await stage.ends(workflowId)
    return workflowId
  },

  'kyc-waits': async stage => {
    const { workflowId } = await submittedIdentity(stage, 'Absent Ada')
    await stage.shows(workflowId, 'for the provider to answer')
    return workflowId
  },
}
