import type { Actor } from '../../kernel/contract/actor.ts'

/**
 * A model that reads a merchant's text must not be able to spend by being told to: an agent's token is bounded by its
 * policy, and a key changes something only where whoever made it has said so. What it may not do becomes a proposal.
 */
export const mayWrite = ({ type, toolWrites }: Actor): boolean => type === 'agent' || toolWrites === true
