import { setWorkflowOptions, workflowInfo } from '@temporalio/workflow'

/**
 * The runs of this workflow end within hours, and stay with the build of the worker that began them. All others go on with
 * the current build. Temporal refuses the option from a worker without a version.
 */
export const pinned = <Input, Result>(workflow: (input: Input) => Promise<Result>): void =>
  setWorkflowOptions(
    () => (workflowInfo().currentDeploymentVersion?.deploymentName ? { versioningBehavior: 'PINNED' } : {}),
    workflow,
  )
