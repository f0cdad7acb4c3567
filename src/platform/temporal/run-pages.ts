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
