import type { Personal } from '../../values/personal.ts'

const nobody = '{"id":null,"name":null}'

export const proposalsPersonal = {
  proposals: {
    personal: {
      input: { kind: 'words', ground: 'contract', forget: 'empty' },
      summary: { kind: 'words', ground: 'contract', forget: 'word' },
      reason: { kind: 'words', ground: 'contract', forget: 'word' },
      changes: { kind: 'words', ground: 'contract', forget: 'empty' },
      effect: { kind: 'payment', ground: 'contract', forget: 'null' },
      proposed_by: { kind: 'name', ground: 'contract', forget: { members: nobody } },
      decided_by: { kind: 'name', ground: 'contract', forget: { members: nobody } },
      attempt: { kind: 'device', ground: 'security', forget: 'null' },
      refusal: { kind: 'words', ground: 'contract', forget: 'null' },
    },
    plain: ['operation', 'hash', 'record_id', 'basis', 'proposer_id', 'result_id'],
    about: {
      person: ["decided_by ->> 'id'", "proposed_by ->> 'id'", 'record_id', 'result_id'],
      beneficiary: ['record_id', 'result_id', "(t.input ->> 'beneficiaryId')"],
      payer: ['record_id', 'result_id'],
    },
  },
} as const satisfies Personal
