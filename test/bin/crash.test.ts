import './crash/approvals.ts'
import './crash/authorizations.ts'
import './crash/bursts.ts'
import './crash/machine-payments.ts'
