import type { HandlerOf } from '../../kernel/contract/operation.ts'
import { TrailBroken } from '../../trail/index.ts'
import type { auditApi } from './api.ts'
import { newestCheckpoint } from './checkpoint.ts'
import { readTail } from './unsealed.ts'
import { Verification } from './verification.ts'

export const verifyTrail: HandlerOf<typeof auditApi.verify> = async (_, context) => {
  const { tenant, ports, withExclusiveRead, refuse } = context
  const keys = { keys: ports.signer.publicKeys() }
  const found = await withExclusiveRead(`verify the trail of ${tenant.ownerId} ${tenant.mode}`, async sql => {
    const checkpoint = (await newestCheckpoint(sql, tenant)) ?? null
    const verification = new Verification(sql, tenant, keys)
    const problem = await verification.run(checkpoint?.size ?? 0).then(
      () => null,
      (error: unknown) => {
        if (!(error instanceof TrailBroken)) throw error
        return { position: error.position, message: error.message }
      },
    )
    return {
      ok: problem === null,
      size: checkpoint?.size ?? 0,
      purged: 0,
      checkpoints: verification.checkpoints,
      checkpoint: checkpoint?.note ?? null,
      problem,
      unsealed: await readTail(sql, tenant.ownerId, tenant.mode),
    }
  })
  return found ?? refuse('verifying')
}
