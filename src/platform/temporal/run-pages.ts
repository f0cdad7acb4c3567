interface Configured {
  readonly temporalWebUi?: string | undefined
  readonly temporalNamespace: string
}

export interface RunPages {
  /** The page of a run in the Temporal Web UI; null where nobody has said where that is. */
  runUrl(workflowId: string): string | null
  /** Where the Web UI is that was started with this process; that of the settings goes first. */
  showRunsAt(webUi: string | null): void
}

/** Where people look at the runs of processes. */
export function runPages({ temporalWebUi, temporalNamespace }: Configured): RunPages {
  let started: string | null = null
  return {
    runUrl(workflowId) {
      const webUi = temporalWebUi ?? started
      if (!webUi) return null
      return `${webUi}/namespaces/${temporalNamespace}/workflows/${encodeURIComponent(workflowId)}`
    },
    showRunsAt(webUi) {
      started = webUi
    },
  }
}
