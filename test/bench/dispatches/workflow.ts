import { proxyActivities } from '@temporalio/workflow'

interface Activities {
  nothing(): Promise<void>
}

const { nothing } = proxyActivities<Activities>({ startToCloseTimeout: '10 seconds' })

/** Runs activities one after the other. Returns how long each took, with the workflow task after it. */
export async function oneAfterTheOther(count: number): Promise<number[]> {
  const tookMs: number[] = []
  for (let n = 0; n < count; n++) {
    const began = Date.now()
    await nothing()
    tookMs.push(Date.now() - began)
  }
  return tookMs
}
