import { area } from '../../kernel/contract/area.ts'
import { implement } from '../../kernel/contract/operation.ts'
import { Refusal } from '../../kernel/contract/problem.ts'
import { scopeOf, shownSpan } from '../reports/index.ts'
import { atOneInstant, merchantOf } from '../spend/index.ts'
import { intelligenceApi } from './api.ts'
import { profileOf, profileViews } from './profile.ts'

const intelligence = implement(intelligenceApi, {
  async merchant({ params, query }, context) {
    const scope = await scopeOf(query, context)
    if (scope instanceof Refusal) return scope
    const keys = [...new Set([params.key, merchantOf(params.key)])]
    const profile = await atOneInstant(context, { agentId: scope.agentId, views: profileViews }, spend =>
      profileOf(spend, scope, { keys, limit: query.limit }),
    )
    return profile ? { ...shownSpan(scope), ...profile } : context.refuse('merchant_not_found')
  },
})

export const intelligenceArea = area(
  'Intelligence',
  'What is known of a merchant: paid, refused, refunded, disputed, and by whom.',
  intelligence,
)
