//! Bills whose amount follows the seasons, such as gas, and cash that is handed in.

use super::*;
use proptest::prelude::*;

/// A gas bill: its amount rises to `swing` times its lowest in winter and falls again, with some noise.
#[derive(Debug, Clone)]
struct GasBill {
    start: i64,
    swing: i64,
    /// For each payment the days that it is early or late, and the noise of its amount in percent.
    payments: Vec<(i64, i64)>,
    cycle: Cycle,
}

#[derive(Debug, Clone)]
enum Cycle {
    /// A day of each month.
    DayOfMonth(i8),
    /// Days from one meter reading to the next.
    Readings(Vec<i64>),
}

impl GasBill {
    fn paid(&self) -> Vec<(Date, i64)> {
        let count = self.payments.len() as i64;
        let days: Vec<i64> = match &self.cycle {
            Cycle::DayOfMonth(day) => {
                let start = date_from_days(19_500 + self.start).to_string();
                monthly(&start, *day, count, 1).iter().map(|it| days_from_date(it.0)).collect()
            }
            Cycle::Readings(gaps) => gaps
                .iter()
                .scan(19_500 + self.start, |day, gap| {
                    *day += gap;
                    Some(*day)
                })
                .collect(),
        };
        let payment = |(day, (late, noise)): (i64, &(i64, i64))| {
            let on = date_from_days(day + late);
            // Zero in July, six in January.
            let winter = (i64::from(on.month()) - 7).abs().min(6);
            let season = 2_500 + 2_500 * (self.swing - 1) * winter * winter / 36;
            (on, season * (100 + noise) / 100)
        };
        days.into_iter().zip(&self.payments).map(payment).collect()
    }
}

fn any_bill(cycle: impl Strategy<Value = Cycle>) -> impl Strategy<Value = GasBill> {
    let payments = prop::collection::vec((-2_i64..=2, -10_i64..=10), 9..30);
    (0_i64..365, 2_i64..=6, payments, cycle).prop_map(|(start, swing, payments, cycle)| GasBill {
        start,
        swing,
        payments,
        cycle,
    })
}

fn assert_one_monthly_stream(paid: &[(Date, i64)], payment_kind: PaymentKind) {
    let last = paid.last().map_or(date("2025-01-01"), |it| it.0);
    let found = detect_streams(&outflow(payment_kind, paid), last);
    let shown: Vec<_> = found.iter().map(|it| (it.frequency, it.members.len())).collect();
    assert_eq!(found.len(), 1, "{payment_kind:?} {shown:?} of {paid:?}");
    assert_eq!(found[0].frequency, Frequency::Monthly);
    assert!(found[0].members.len() * 10 >= paid.len() * 9, "{shown:?} of {paid:?}");
}

proptest! {
    #[test]
    fn a_seasonal_bill_is_one_monthly_stream(
        bill in any_bill((1_i8..=31).prop_map(Cycle::DayOfMonth)),
    ) {
        assert_one_monthly_stream(&bill.paid(), PaymentKind::Bill);
    }

    #[test]
    fn a_bill_after_each_meter_reading_is_one_monthly_stream(
        bill in any_bill(prop::collection::vec(28_i64..=33, 30).prop_map(Cycle::Readings)),
    ) {
        assert_one_monthly_stream(&bill.paid(), PaymentKind::Bill);
    }

    #[test]
    fn a_seasonal_bill_may_skip_a_month(
        bill in any_bill((1_i8..=28).prop_map(Cycle::DayOfMonth)),
        skipped in 2_usize..7,
    ) {
        let mut paid = bill.paid();
        paid.remove(skipped);
        assert_one_monthly_stream(&paid, PaymentKind::Bill);
    }
}
