import type { Context } from '../../kernel/contract/context.ts'
import type { PostalAddress } from '../../ports/card-processor.ts'
import { Onboarding } from './company-onboarding.ts'

/** The name and the address of the company, as its onboarding says. */
export async function findCompany(
  onboardingId: string,
  { records }: Pick<Context, 'records'>,
): Promise<{ readonly name: string; readonly address: PostalAddress }> {
  const { legalName, address } = await records.findOneOrFail(Onboarding, { id: onboardingId })
  return { name: legalName, address }
}
