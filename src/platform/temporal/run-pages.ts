interface Configured {
  readonly temporalUiUrl?: string | undefined
  readonly temporalNamespace: string
}

export interface RunPages {
  runUrl(workflowId: string): string | null
  /** Sets the address of the Web UI that was started with this process. The setting overrides it. */
  showRunsAt(webUi: string | null): void
  startedWebUi(): string | null
}

/** The view of docs/how-to/temporal.md: records that a person decides about, each in the status in which it waits. */
const WAITING_FOR_PEOPLE = `ExecutionStatus = "Running" and (${[
  ['intent', 'created'],
  ['card-request', 'pending'],
  ['transfer', 'verifying'],
  ['onboarding', 'in_review'],
]
  .map(([process, status]) => `(WorkflowType = "${process}" and AgentPayStatus = "${status}")`)
  .join(' or ')})`

/** The page of the Web UI that lists the runs that wait for a person. */
export const waitingForPeopleUrl = (webUi: string, temporalNamespace: string): string =>
  `${webUi}/namespaces/${temporalNamespace}/workflows?${new URLSearchParams({ query: WAITING_FOR_PEOPLE })}`

/** It has a file of its own because an API process needs no SDK of Temporal, which takes long to load. */
export function runPages({ temporalUiUrl, temporalNamespace }: Configured): RunPages {
  let started: string | null = null
  return {
    runUrl(workflowId) {
      const webUi = temporalUiUrl ?? started
      if (!webUi) return null
      return `${webUi}/namespaces/${temporalNamespace}/workflows/${encodeURIComponent(workflowId)}`
    },
    showRunsAt(webUi) {
      started = webUi
    },
    startedWebUi: () => started,
  }
}
