import type { Personal } from '../../values/personal.ts'

/** The tree holds digests. Without its salt, a commitment to a name or an address says nothing. */
export const auditPersonal = {
  audit_trees: { personal: {}, plain: ['peaks'] },
  audit_seals: { personal: {}, plain: ['leaf', 'commitments'], secret: ['salts'] },
  audit_tiles: { personal: {}, plain: ['hashes', 'root'] },
  audit_checkpoints: { personal: {}, plain: ['note'] },
  audit_purges: { personal: {}, plain: ['edge', 'checkpoint_id'] },
} as const satisfies Personal
