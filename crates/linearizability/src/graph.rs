//! Directed graphs with labelled edges: short cycles.

use std::collections::VecDeque;

/// An edge to a node.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Edge<L> {
    pub(crate) to: usize,
    pub(crate) label: L,
}

/// Edges by source node.
pub(crate) struct Graph<L> {
    pub(crate) edges: Vec<Vec<Edge<L>>>,
}

/// Cycles are searched for from at most this many nodes of a component, so the result may be far from the shortest.
const STARTS_MAX: usize = 500;

impl<L: Copy> Graph<L> {
    pub(crate) fn new(nodes_count: usize) -> Self {
        Self { edges: vec![Vec::new(); nodes_count] }
    }

    /// Adds an edge unless it is a loop.
    pub(crate) fn add(&mut self, from: usize, to: usize, label: L) {
        if from != to {
            self.edges[from].push(Edge { to, label });
        }
    }

    /// Returns a short cycle of edges that are `wanted`, as source nodes and edges. `costs` says which edges count.
    pub(crate) fn circle(
        &self,
        wanted: impl Fn(L) -> bool,
        costs: impl Fn(L) -> bool,
    ) -> Option<Vec<(usize, Edge<L>)>> {
        let components = self.components(&wanted);
        let mut members: Vec<Vec<usize>> = Vec::new();
        for (node, &component) in components.iter().enumerate() {
            members.resize_with(members.len().max(component + 1), Vec::new);
            members[component].push(node);
        }
        let component = members.into_iter().filter(|nodes| nodes.len() > 1).min_by_key(Vec::len)?;
        let inside = |node: usize| components[node] == components[component[0]];
        let starts = component.iter().filter(|&&node| self.edges[node].iter().any(|edge| costs(edge.label)));
        let circles = starts
            .take(STARTS_MAX)
            .filter_map(|&start| self.path(start, start, |edge| wanted(edge.label) && inside(edge.to), &costs));
        circles.min_by_key(|circle| circle.iter().filter(|(_, edge)| costs(edge.label)).count())
    }

    /// Returns the path from `from` to `to`, of at least one edge, with the fewest edges that cost.
    pub(crate) fn path(
        &self,
        from: usize,
        to: usize,
        wanted: impl Fn(&Edge<L>) -> bool,
        costs: impl Fn(L) -> bool,
    ) -> Option<Vec<(usize, Edge<L>)>> {
        let mut came: std::collections::HashMap<usize, (usize, Edge<L>)> = std::collections::HashMap::new();
        let mut settled = std::collections::HashSet::new();
        let mut queue = VecDeque::from([(from, None)]);
        while let Some((node, by)) = queue.pop_front() {
            if let Some(by) = by {
                if !settled.insert(node) {
                    continue;
                }
                came.insert(node, by);
                if node == to {
                    break;
                }
            }
            for edge in self.edges[node].iter().filter(|edge| wanted(edge)) {
                let next = (edge.to, Some((node, *edge)));
                if costs(edge.label) { queue.push_back(next) } else { queue.push_front(next) }
            }
        }
        let mut path = vec![*came.get(&to)?];
        while let Some(&(node, _)) = path.last().filter(|(node, _)| *node != from) {
            path.push(came[&node]);
        }
        path.reverse();
        Some(path)
    }

    /// Returns each node's strongly connected component (Tarjan's algorithm, without recursion).
    fn components(&self, wanted: &impl Fn(L) -> bool) -> Vec<usize> {
        const UNSEEN: usize = usize::MAX;
        let count = self.edges.len();
        let (mut number, mut low, mut component) = (vec![UNSEEN; count], vec![0; count], vec![UNSEEN; count]);
        let (mut stack, mut numbers, mut components) = (Vec::new(), 0, 0);
        for root in 0..count {
            let mut visits = if number[root] == UNSEEN { vec![(root, 0)] } else { Vec::new() };
            while let Some((node, next)) = visits.last_mut() {
                let node = *node;
                if *next == 0 {
                    (number[node], low[node]) = (numbers, numbers);
                    numbers += 1;
                    stack.push(node);
                }
                if let Some(edge) = self.edges[node].get(*next) {
                    *next += 1;
                    if !wanted(edge.label) {
                        continue;
                    }
                    if number[edge.to] == UNSEEN {
                        visits.push((edge.to, 0));
                    } else if component[edge.to] == UNSEEN {
                        low[node] = low[node].min(number[edge.to]);
                    }
                    continue;
                }
                visits.pop();
                if let Some((parent, _)) = visits.last() {
                    low[*parent] = low[*parent].min(low[node]);
                }
                if low[node] == number[node] {
                    while let Some(member) = stack.pop() {
                        component[member] = components;
                        if member == node {
                            break;
                        }
                    }
                    components += 1;
                }
            }
        }
        component
    }
}
