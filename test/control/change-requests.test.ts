import './change-requests/of-approvers.ts'
import './change-requests/of-policies.ts'
import './change-requests/forgotten.ts'
