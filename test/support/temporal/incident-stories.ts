import { ago, incidentDesk } from '../compliance/incidents.ts'
import type { TestClient } from '../factories.ts'
import type { TestService } from '../harness.ts'

interface Stage {
  readonly dash: TestClient
  readonly sql: TestService['sql']
  shows(workflowId: string, text: string): Promise<void>
  ends(workflowId: string): Promise<void>
}

/** Incidents of the service, from the alarm to their end. */
export const incidentStories: Readonly<Record<string, (stage: Stage) => Promise<string>>> = {
  'incident-waits': async stage => {
    const { workflowId } = await incidentDesk(stage).open()
    await stage.shows(workflowId, 'for a decision whether it is major')
    return workflowId
  },

  'incident-reported': async stage => {
    const desk = incidentDesk(stage)
    const { id, workflowId } = await desk.open({ detectedAt: ago(30) })
    await stage.shows(workflowId, 'for a decision whether it is major')
    await desk.classify(id, true, ago(29))
    await stage.shows(workflowId, 'for the initial notification')
    await desk.submitted(id, 'initial', 28)
    await stage.shows(workflowId, 'for the intermediate report')
    await desk.submitted(id, 'intermediate', 5)
    await stage.shows(workflowId, 'for the final report')
    await desk.submitted(id, 'final', 1)
    await stage.shows(workflowId, 'for an operator to close it')
    await desk.incidents.close({ params: { id } })
    await stage.ends(workflowId)
    return workflowId
  },

  'incident-not-major': async stage => {
    const desk = incidentDesk(stage)
    const { id, workflowId } = await desk.open()
    await desk.classify(id, false)
    await stage.shows(workflowId, 'for an operator to close it')
    await desk.incidents.close({ params: { id } })
    await stage.ends(workflowId)
    return workflowId
  },
}
