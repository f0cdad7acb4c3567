import { bodyOf, type TestClient } from '../factories.ts'

interface Stage {
  readonly client: TestClient
  shows(workflowId: string, text: string): Promise<void>
  ends(workflowId: string): Promise<void>
}

async function ready({ client, shows }: Stage): Promise<string> {
  const { workflowId } = await bodyOf(client.gdpr.createExport({ body: {} }))
  await shows(workflowId, 'for the archive to expire')
  return workflowId
}

export const gdprStories: Readonly<Record<string, (stage: Stage) => Promise<string>>> = {
  'gdpr-export-waits': ready,

  'gdpr-export-expired': async stage => {
    const workflowId = await ready(stage)
    await bodyOf(stage.client.sandbox.advance({ body: { days: 8 } }))
    await stage.ends(workflowId)
    return workflowId
  },
}
